package shard

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/session"
)

// DefaultRows is the number of rows of an element. It is large enough that the fixed cost of an
// element is small compared with the cost of its rows.
const DefaultRows = 1 << 16

// Options control how a set is divided and read.
type Options struct {
	// Rows is the maximum number of rows of an element, 0 for DefaultRows.
	Rows int
	// IgnoreLabels leaves out the labels of the data.
	IgnoreLabels bool
	// OnlyLabels reads labels only, so that text needs no features.
	OnlyLabels bool
	// MemoryLimit limits the bytes of a block of rows, 0 for no limit.
	MemoryLimit int64
	// Mixed accepts texts and missing cells in files whose columns have names. Text and Numbers are
	// the columns that are read as the one or the other in every file, whatever they look like
	// there.
	Mixed         bool
	Text, Numbers []string
}

// reading returns the options for a file.
func (o Options) reading(file string) dataset.ReadOptions {
	in := dataset.ReadOptions{IgnoreLabels: o.IgnoreLabels, MemoryLimit: o.MemoryLimit,
		Extensions: session.Extensions()}
	if o.Mixed && dataset.NamesColumns(file, "", in.Extensions...) {
		in.Mixed, in.Text, in.Numbers = true, o.Text, o.Numbers
	}
	return in
}

// Plan divides the files of a pattern into elements. It inspects several files at a time: it reads
// the beginning of every file, and all of a text file, to find the rows. Files without rows have no
// elements; all others must have the same features. A compressed file is one element, because its
// rows can be found only from its beginning.
func Plan(ctx context.Context, pattern string, o Options) (*Set, error) {
	if o.Rows < 0 {
		return nil, &fault.ParamError{Param: "rows of an element", Value: o.Rows,
			Want: "a number >= 0 (0 for the default)"}
	}
	if o.Rows == 0 {
		o.Rows = DefaultRows
	}
	files, err := Files(pattern)
	if err != nil {
		return nil, err
	}
	found, err := each(ctx, files, o.survey)
	if err != nil {
		return nil, err
	}
	return join(files, found)
}

// each calls f for all files, several at a time, and returns the results in order, or the error of
// the first file that has one.
func each(ctx context.Context, files []string,
	f func(ctx context.Context, file string) (surveyed, error)) ([]surveyed, error) {
	out, errs := make([]surveyed, len(files)), make([]error, len(files))
	var group sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, file := range files {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			if errs[i] = ctx.Err(); errs[i] == nil {
				out[i], errs[i] = f(ctx, file)
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// surveyed describes one file.
type surveyed struct {
	elements    []Element // without Index, Count and Start
	dim         int       // 0 when no row could be read
	features    []string
	labels, ids bool
}

// survey finds the elements of one file.
func (o Options) survey(ctx context.Context, file string) (s surveyed, err error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return s, fault.Data(file, "cannot read: %w", err)
	case !info.Mode().IsRegular(): // a job opens its files several times
		return s, fault.Data(file, "it is a folder, a pipe or a device: want a file")
	case info.Size() == 0:
		return s, nil // some engines write empty files for shards without rows
	}
	in := o.reading(file)
	in.BadRow = func(*fault.DataError) {} // bad rows are handled when the elements are read
	if !dataset.Streams(file, "", in.Extensions...) {
		_, err := dataset.OpenStream(file, in)
		return s, err
	}
	if dataset.FormatOf(file) == "csv" {
		s.elements, err = textElements(ctx, file, o.Rows)
	} else {
		s.elements, err = o.countedElements(file, in)
	}
	if err != nil || len(s.elements) == 0 {
		return s, err
	}
	if o.OnlyLabels && dataset.FormatOf(file) == "csv" {
		s.labels = true // whether a label is missing shows when they are read
		return s, nil
	}
	return s, s.inspect(file, in)
}

// countedElements divides a file that stores its number of rows.
func (o Options) countedElements(file string, in dataset.ReadOptions) ([]Element, error) {
	stream, err := dataset.OpenStream(file, in)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	rows, rowsEach := stream.Rows(), o.Rows
	if compressed(file) {
		rowsEach = max(1, rows)
	}
	var elements []Element
	for first := 0; first < rows; first += rowsEach {
		elements = append(elements,
			Element{File: file, First: int64(first), Rows: int64(min(rowsEach, rows-first))})
	}
	return elements, nil
}

func compressed(file string) bool { return strings.HasSuffix(strings.ToLower(file), ".gz") }

// inspect reads the first good row, for the number and names of features and for labels and ids.
func (s *surveyed) inspect(file string, in dataset.ReadOptions) error {
	stream, err := dataset.OpenStream(file, in)
	if err != nil {
		return err
	}
	defer stream.Close()
	d, err := stream.Next(1)
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return err
	}
	s.dim, s.features, s.labels, s.ids = d.Points.Dim(), d.Features, d.Labels != nil, d.IDs != nil
	return nil
}

// join puts the elements of all files in order.
func join(files []string, found []surveyed) (*Set, error) {
	set := &Set{Files: files}
	first := -1 // the first file that has a row
	for i, s := range found {
		set.Labels = set.Labels || s.labels && s.dim == 0
		if s.dim > 0 && first < 0 {
			first = i
			set.Dim, set.Features, set.Labels, set.IDs = s.dim, s.features, s.labels, s.ids
		}
		if s.dim > 0 {
			if err := s.checkSame(found[first], files[i], files[first]); err != nil {
				return nil, err
			}
		}
		for _, e := range s.elements {
			e.Index, e.Start = int64(len(set.Elements)), set.Rows
			set.Rows += e.Rows
			set.Elements = append(set.Elements, e)
		}
	}
	if len(set.Elements) == 0 {
		return nil, fault.Data(strings.Join(files, ","), "no file has a row: want at least one")
	}
	for i := range set.Elements {
		set.Elements[i].Count = int64(len(set.Elements))
	}
	return set, nil
}

// checkSame returns an error unless the rows of two files have the same features, and both or
// neither have labels and ids.
func (s surveyed) checkSame(first surveyed, file, other string) error {
	switch {
	case s.dim != first.dim:
		return fault.Data(file, "it has %d features: want %d, as %s has", s.dim, first.dim, other)
	case s.features != nil && first.features != nil && !slices.Equal(s.features, first.features):
		return fault.Data(file, "its features are %s: want those of %s in the same order",
			shorten(s.features), other)
	case s.labels != first.labels:
		return fault.Data(file, "only one of this file and %s has labels: want labels in all files or none",
			other)
	case s.ids != first.ids:
		return fault.Data(file, "only one of this file and %s has ids: want ids in all files or none", other)
	}
	return nil
}

// shorten joins names, and replaces all but the first of a long list by their number.
func shorten(names []string) string {
	const shown = 5
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
