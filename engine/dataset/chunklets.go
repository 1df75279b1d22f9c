package dataset

import (
	"io"
	"strings"
)

// isChunklets reports whether the header is that of a chunklets file.
func isChunklets(r *records) bool {
	return len(r.columns) == 2 && r.column("i") >= 0 && r.column("chunklet") >= 0
}

// Chunklet is a named group of rows of a chunklets file.
type Chunklet struct {
	Name string
	Rows []int // in the order of the file
	Line int   // 1-based line of the first row
}

// ReadChunklets reads a file of chunklets (columns i and chunklet) with their names, in the order
// of their first lines. A row may be in several chunklets. Errors are *fault.DataError as for
// [ReadLinks].
func ReadChunklets(path string, c LinkContext) ([]Chunklet, error) {
	return fromFile(path, c.chunklets)
}

// DecodeChunklets is [ReadChunklets] for a stream. Messages refer to it as name; gz means that it
// is compressed. Errors are the same.
func DecodeChunklets(r io.Reader, name string, gz bool, c LinkContext) ([]Chunklet, error) {
	return c.chunklets(newSource(name, r, -1, gz))
}

func (c LinkContext) chunklets(src *source) (list []Chunklet, err error) {
	rep := &report{max: 1}
	r, find, err := c.begin(src, rep)
	if err == nil && !isChunklets(r) {
		err = rep.fatal("correct the header", "the header is %s: want i,chunklet", r.header())
	}
	if err == nil {
		list, err = eachChunklet(r, c, find)
	}
	return first(list, err)(rep)
}

// eachChunklet parses the lines of a chunklets file.
func eachChunklet(r *records, c LinkContext, find finder) ([]Chunklet, error) {
	at, name := r.column("i"), r.column("chunklet")
	number := make(map[string]int)
	var list []Chunklet
	err := r.eachWithin(c.MemoryLimit, linkBytes, func(fields []string, line int) error {
		i, err := r.rowNamed(find, fields[at], at, line)
		if err != nil {
			return err
		}
		key := fields[name]
		if key == "" {
			return r.problem(line, "chunklet", "write the name of the chunklet, or remove the line", "the cell is empty: want the chunklet's name")
		}
		k, ok := number[key]
		if !ok {
			k, key = len(list), strings.Clone(key)
			number[key] = k
			list = append(list, Chunklet{Name: key, Line: line})
		}
		list[k].Rows = append(list[k].Rows, i)
		return nil
	})
	if err == nil && len(r.rep.problems) > 0 {
		err = errStop
	}
	return list, err
}
