package dataset

import (
	"io"
	"slices"
	"strings"
)

// chunkletHeader holds the columns of a chunklets file, sorted.
var chunkletHeader = []string{"chunklet", "i"}

// Chunklet is a group of rows under the name that a chunklets file gives it.
type Chunklet struct {
	Name string
	Rows []int // in the order of the file
	Line int   // 1-based line of the first row
}

// ReadChunklets reads a file of chunklets (columns i and chunklet) with their names, in the
// order of their first lines. Rows may come in several chunklets. Errors are
// *fault.DataError as for [ReadLinks].
func ReadChunklets(path string, c LinkContext) (list []Chunklet, err error) {
	err = withText(path, func(src *source) error {
		list, err = decodeNamed(src, c)
		return err
	})
	return list, err
}

// DecodeChunklets is [ReadChunklets] for a stream that messages call name. gz says that it
// is compressed.
// Errors are the same.
func DecodeChunklets(r io.Reader, name string, gz bool, c LinkContext) ([]Chunklet, error) {
	return decodeNamed(newSource(name, r, -1, gz), c)
}

func decodeNamed(src *source, c LinkContext) ([]Chunklet, error) {
	rep := &report{file: src.name, max: 1}
	var list []Chunklet
	find, err := c.finder()
	if err != nil {
		return nil, err
	}
	err = func() error {
		r, err := openRecords(src, ReadOptions{MaxLine: c.MaxLine}.maxLine(), rep)
		if err != nil {
			return err
		}
		r.pairs = true
		if !slices.Equal(slices.Sorted(slices.Values(r.columns)), chunkletHeader) {
			return rep.fatal("correct the header", "the header is %s: want i,chunklet", quote(strings.Join(r.columns, ",")))
		}
		list, err = eachChunklet(r, c, find)
		return err
	}()
	if err := rep.outcome(err); err != nil {
		return nil, err
	}
	return list, nil
}

// eachChunklet parses the lines of a chunklets file.
func eachChunklet(r *records, c LinkContext, find finder) ([]Chunklet, error) {
	at, name := r.column("i"), r.column("chunklet")
	number := make(map[string]int)
	var list []Chunklet
	err := r.eachWithin(c.MemoryLimit, linkBytes, func(fields []string, line int) error {
		i, what, mend := find(fields[at])
		if what != "" {
			return r.problem(line, "i", mend, "%s", what)
		}
		key := strings.TrimSpace(fields[name])
		if key == "" {
			return r.problem(line, "chunklet", "name the chunklet, or remove the line", "the cell is empty: want the chunklet's name")
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
