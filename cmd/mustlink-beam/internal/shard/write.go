package shard

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
)

// Output names the files that a job writes, one for each element, after one path.
//
// A file is written under a temporary name in its folder and renamed, so that it is complete or
// missing, even when its element is processed several times at once. [Staging] holds the files
// until all are complete.
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
	if slices.Contains(formats, dataset.FormatOf(o.Path, session.Extensions()...)) {
		return nil
	}
	return &fault.ParamError{Param: "output path", Value: o.Path, Want: "a name ending in ." +
		strings.Join(formats, " or .") + " (each also .gz)"}
}

// Matrix returns the options for writing the files as matrices. Columns are numbered when the list
// is nil.
func (o Output) Matrix(columns []string) (dataset.WriteOptions, error) {
	w := dataset.WriteOptions{Columns: columns, Extensions: session.Extensions()}
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

// WriteBad lists the bad rows of an element in a file. Without any it writes none.
func (o Output) WriteBad(e Element, bad []Bad) error {
	if len(bad) == 0 {
		return nil
	}
	return dataset.Atomic(o.Name(e.Index, e.Count), func(w io.Writer) error {
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
