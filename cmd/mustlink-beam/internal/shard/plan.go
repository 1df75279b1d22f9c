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
)

// DefaultRows is the number of rows of an element: enough that what an element costs by itself is
// nothing beside its rows.
const DefaultRows = 1 << 16

// Options say how a set is divided and read.
type Options struct {
	// Rows is the most rows that an element has, 0 for DefaultRows.
	Rows int
	// IgnoreLabels leaves out the labels that the data carry.
	IgnoreLabels bool
	// OnlyLabels says that nothing but labels is read, so that text may have no features.
	OnlyLabels bool
	// MemoryLimit is the limit on the bytes of a block of rows, 0 for none.
	MemoryLimit int64
}

func (o Options) reading() dataset.ReadOptions {
	return dataset.ReadOptions{IgnoreLabels: o.IgnoreLabels, MemoryLimit: o.MemoryLimit, Extensions: Extensions()}
}

// Plan divides the files of a pattern into elements. It reads the beginning of every file, and of
// text all of it, to find the rows: files are looked at side by side. Files without rows have no
// elements; all others must have the same features. A file that is compressed is one element, since
// its rows are found only from its beginning on.
func Plan(ctx context.Context, pattern string, o Options) (*Set, error) {
	if o.Rows < 0 {
		return nil, &fault.ParamError{Param: "rows of an element", Value: o.Rows, Want: "a number >= 0 (0 for the default)"}
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

// each calls f for all files, some at a time, and returns the outcomes in order, or the error of
// the first file that has one.
func each(ctx context.Context, files []string, f func(ctx context.Context, file string) (surveyed, error)) ([]surveyed, error) {
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

// surveyed is what is known of one file.
type surveyed struct {
	elements    []Element // without Index, Count and Start
	dim         int       // 0 when no row tells
	features    []string
	labels, ids bool
}

// survey finds the elements of one file.
func (o Options) survey(ctx context.Context, file string) (s surveyed, err error) {
	if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return s, nil // what some engines write for a shard without rows
	}
	in := o.reading()
	in.PassOver = func(*fault.DataError) {} // whoever reads the rows sees to it
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
		s.labels = true // reading them tells more than a look does
		return s, nil
	}
	return s, s.inspect(file, in)
}

// countedElements divides a file that tells the number of its rows.
func (o Options) countedElements(file string, in dataset.ReadOptions) ([]Element, error) {
	stream, err := dataset.OpenStream(file, in)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	rows, shown := stream.Rows(), o.Rows
	if compressed(file) {
		shown = max(1, rows)
	}
	var elements []Element
	for first := 0; first < rows; first += shown {
		elements = append(elements, Element{File: file, First: int64(first), Rows: int64(min(shown, rows-first))})
	}
	return elements, nil
}

func compressed(file string) bool { return strings.HasSuffix(strings.ToLower(file), ".gz") }

// inspect reads the first row that is right, to see what rows have.
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

// checkSame compares what the rows of two files have.
func (s surveyed) checkSame(first surveyed, file, other string) error {
	switch {
	case s.dim != first.dim:
		return fault.Data(file, "it has %d features: want %d, as %s has", s.dim, first.dim, other)
	case s.features != nil && first.features != nil && !slices.Equal(s.features, first.features):
		return fault.Data(file, "its features are %s: want those of %s in the same order", shorten(s.features), other)
	case s.labels != first.labels:
		return fault.Data(file, "only one of it and %s has labels: want all or none", other)
	case s.ids != first.ids:
		return fault.Data(file, "only one of it and %s has ids: want all or none", other)
	}
	return nil
}

// shorten writes a list of names, the first ones of many.
func shorten(names []string) string {
	const shown = 5
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
