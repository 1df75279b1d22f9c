package shard

import (
	"fmt"
	"io"
	"os"
)

// Element is a run of rows of one file.
type Element struct {
	Index int64 // position in the set, whose elements are in the order of files and rows
	Count int64 // number of elements of the set
	File  string
	First int64 // number of the first row in the file
	Rows  int64
	Start int64 // number of the first row in the set
	// For an uncompressed text file, Offset and Bytes are the position of the rows, Line is their
	// first line, and Header is the length in bytes of the column names at the start. Bytes is 0
	// for other files.
	Offset, Bytes, Line, Header int64
	// Skip is the number of rows in this text before First. More is true when rows of another
	// element follow.
	Skip int64
	More bool
}

// Part returns a run of an element's rows: rows of them, from row start of the set. The caller sets
// Index and Count.
func (e Element) Part(start, rows int64) Element {
	skip := start - e.Start
	if skip == 0 && rows == e.Rows {
		return e
	}
	e.More = e.More || skip+rows < e.Rows
	e.Start, e.First, e.Rows = start, e.First+skip, rows
	if e.Bytes > 0 {
		e.Skip += skip
	}
	return e
}

// text returns the text of the element's rows, after that of the column names.
func (e Element) text(file *os.File) io.Reader {
	return io.MultiReader(io.NewSectionReader(file, 0, e.Header),
		io.NewSectionReader(file, e.Offset, e.Bytes))
}

// closed reports whether the rows end with the text that is read, or with a file that must be read
// to its end to be checked.
func (e Element) closed() bool { return !e.More && (e.Bytes > 0 || compressed(e.File)) }

// String names the rows, for a message.
func (e Element) String() string {
	return fmt.Sprintf("rows %d to %d of %s", e.First, e.First+e.Rows-1, e.File)
}

// Set is the input of a job.
type Set struct {
	Elements []Element
	Files    []string // including files without rows
	Rows     int64
	Features []string // names, nil when the files have none
	Dim      int      // number of features
	Labels   bool     // the rows have labels
	IDs      bool     // the rows have ids
}
