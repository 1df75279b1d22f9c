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

// Output names the files that a job writes, one for each element, after one path.
//
// A file is written under a temporary name in its folder and renamed, so that it is complete or
// missing, even when its element is processed several times at once. Unfinished files of a killed
// process are removed by the next process that writes the same file.
type Output struct {
	Path string // "embedded.npy" for embedded-00003-of-00016.npy and so on
}

// Name returns the path of the file of an element.
func (o Output) Name(index, count int64) string {
	stem, ending := o.split()
	return fmt.Sprintf("%s-%05d-of-%05d%s", stem, index, count, ending)
}

// Pattern returns the pattern of all files, for [Files].
func (o Output) Pattern() string {
	stem, ending := o.split()
	return stem + "-[0-9]*-of-[0-9]*" + ending
}

// split returns the path without its extension, and the extension, including .gz.
func (o Output) split() (stem, ending string) {
	stem = o.Path
	if compressed(stem) {
		stem, ending = stem[:len(stem)-3], stem[len(stem)-3:]
	}
	e := filepath.Ext(stem)
	return strings.TrimSuffix(stem, e), e + ending
}

// Prepare checks that files can be written. It removes the files of an earlier job with another
// number of elements, because the pattern would match them too. It must not run at the same time as
// a job that writes the files.
func (o Output) Prepare(count int64) error {
	if err := CheckWritable(o.Name(0, count)); err != nil {
		return err
	}
	_, ending := o.split()
	mine := fmt.Sprintf("-of-%05d%s", count, ending)
	return o.remove(func(file string) bool { return !strings.HasSuffix(file, mine) })
}

// Remove removes all files of an earlier job.
func (o Output) Remove() error { return o.remove(func(string) bool { return true }) }

// remove removes those files of an earlier job for which inTheWay is true.
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
			return fmt.Errorf("removing a file of an earlier job: %w", err)
		}
	}
	return nil
}

// CheckWritable returns an error when a file cannot be written.
func CheckWritable(path string) error {
	stop := errors.New("trial write")
	if err := dataset.Atomic(path, func(io.Writer) error { return stop }); err != stop {
		return err
	}
	return nil
}

// Check returns a *fault.ParamError unless the extension of the path is one of the formats.
func (o Output) Check(formats []string) error {
	if slices.Contains(formats, dataset.FormatOf(o.Path, Extensions()...)) {
		return nil
	}
	return &fault.ParamError{Param: "output path", Value: o.Path, Want: "a name ending in ." + strings.Join(formats, " or .") + " (each also .gz)"}
}

// Matrix returns the options for writing the files as matrices. Columns are numbered when the list
// is nil.
func (o Output) Matrix(columns []string) (dataset.WriteOptions, error) {
	w := dataset.WriteOptions{Columns: columns, Extensions: Extensions()}
	return w, o.Check(dataset.OutputFormats(w.Extensions...))
}

// WriteMatrix writes rows of values to one file, with ids unless these are nil. Columns are
// numbered when the list is nil.
func WriteMatrix(path string, cols int, values []float64, columns, ids []string) error {
	w, err := Output{Path: path}.Matrix(columns)
	if err != nil {
		return err
	}
	return dataset.WriteMatrix(path, len(values)/cols, cols, values, cols, ids, w)
}

// WriteBad lists the bad rows of an element in a file. Without any it removes the file of an
// earlier job.
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
