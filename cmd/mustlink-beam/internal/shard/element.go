package shard

import (
	"fmt"
	"io"
	"os"
)

// Element is a run of rows of one file.
type Element struct {
	Index int64 // its place among the elements of the set, which are in the order of files and rows
	Count int64 // the number of elements
	File  string
	First int64 // number of its first row in the file
	Rows  int64
	Start int64 // number of its first row in the set
	// Offset and Bytes say where the rows stand in a text file that is not compressed, Line on which
	// line they begin, and Header how many bytes the names of the columns take at the file's
	// beginning. Bytes is 0 in other files.
	Offset, Bytes, Line, Header int64
	// Skip is the number of rows in front of First that stand there too. More is set when rows
	// follow that are not the element's.
	Skip int64
	More bool
}

// Part returns a run of an element's rows: those of the set from the row start on. What it is among
// the elements is left to the caller.
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

// text returns the text that the element's rows stand in, with the names of the columns in front.
func (e Element) text(file *os.File) io.Reader {
	return io.MultiReader(io.NewSectionReader(file, 0, e.Header), io.NewSectionReader(file, e.Offset, e.Bytes))
}

// closed says that the rows end with the text that is read, or with a file that must be read to its
// end to be checked.
func (e Element) closed() bool { return !e.More && (e.Bytes > 0 || compressed(e.File)) }

// String names the rows for a message.
func (e Element) String() string {
	return fmt.Sprintf("rows %d to %d of %s", e.First, e.First+e.Rows-1, e.File)
}

// Set is what a job reads.
type Set struct {
	Elements []Element
	Files    []string // also those without rows
	Rows     int64
	Features []string // names, nil where the files have none
	Dim      int      // number of features
	Labels   bool     // the rows have labels
	IDs      bool     // the rows have ids
}
