package shard

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
)

// Output is what a job writes: a file for each element, named after one path.
//
// A file is written beside its place and renamed, so that it is there as a whole or not at all,
// whether its element is worked on once or several times at once; what a killed process has left is
// removed by the next one that writes the same file.
type Output struct {
	Path string // "embedded.npy" stands for embedded-00003-of-00016.npy and the others
}

// Name returns the path of the file of one element.
func (o Output) Name(index, count int64) string {
	stem, ending := o.split()
	return fmt.Sprintf("%s-%05d-of-%05d%s", stem, index, count, ending)
}

// Pattern returns the pattern of all files, for [Files].
func (o Output) Pattern() string {
	stem, ending := o.split()
	return stem + "-[0-9]*-of-[0-9]*" + ending
}

// split returns the path without its ending, and the ending with .gz.
func (o Output) split() (stem, ending string) {
	stem = o.Path
	if compressed(stem) {
		stem, ending = stem[:len(stem)-3], stem[len(stem)-3:]
	}
	e := filepath.Ext(stem)
	return strings.TrimSuffix(stem, e), e + ending
}

// Prepare looks whether files can be written, and removes those that an earlier job with another
// number of elements has left, which a reader of the pattern would take for more rows. It must not
// run beside a job that writes them.
func (o Output) Prepare(count int64) error {
	if err := CheckWritable(o.Name(0, count)); err != nil {
		return err
	}
	_, ending := o.split()
	mine := fmt.Sprintf("-of-%05d%s", count, ending)
	return o.remove(func(file string) bool { return !strings.HasSuffix(file, mine) })
}

// Remove removes all files that an earlier job has left.
func (o Output) Remove() error { return o.remove(func(string) bool { return true }) }

// remove removes the files that an earlier job has left and that are in the way.
func (o Output) remove(inTheWay func(file string) bool) error {
	before, err := Files(o.Pattern())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, file := range before {
		if !inTheWay(file) {
			continue
		}
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("removing what an earlier job has left: %w", err)
		}
	}
	return nil
}

// CheckWritable finds out whether a file can be written.
func CheckWritable(path string) error {
	stop := errors.New("trial write")
	if err := dataset.Atomic(path, func(io.Writer) error { return stop }); err != stop {
		return err
	}
	return nil
}

// Check returns a *fault.ParamError unless the path ends in one of the formats.
func (o Output) Check(formats []string) error {
	if slices.Contains(formats, dataset.FormatOf(o.Path, Extensions()...)) {
		return nil
	}
	return &fault.ParamError{Param: "output path", Value: o.Path, Want: "a name that ends in ." + strings.Join(formats, " or .") + " (each also .gz)"}
}

// Matrix says how the files are written as matrices; a nil list of columns numbers them.
func (o Output) Matrix(columns []string) (dataset.WriteOptions, error) {
	w := dataset.WriteOptions{Columns: columns, Extensions: Extensions()}
	return w, o.Check(dataset.OutputFormats(w.Extensions...))
}

// WriteMatrix writes rows of values to one file, the rows with ids unless these are nil. A nil list
// of columns numbers them.
func WriteMatrix(path string, cols int, values []float64, columns, ids []string) error {
	w, err := Output{Path: path}.Matrix(columns)
	if err != nil {
		return err
	}
	return dataset.WriteMatrix(path, len(values)/cols, cols, values, cols, ids, w)
}

// WriteBad writes the rows that were left out of an element. Without any, what an earlier job has
// left is removed.
func (o Output) WriteBad(e Element, bad []Bad) error {
	name := o.Name(e.Index, e.Count)
	if len(bad) == 0 {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return dataset.Atomic(name, func(w io.Writer) error {
		c := csv.NewWriter(w)
		if err := c.Write(BadColumns); err != nil {
			return err
		}
		for _, b := range bad {
			if err := c.Write(b.record()); err != nil {
				return err
			}
		}
		c.Flush()
		return c.Error()
	})
}
