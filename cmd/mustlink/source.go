package main

import (
	"context"
	"fmt"
	"io"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
)

// pointSource is a set of points that comes in blocks, from a file that is read on the way where its format allows, and
// else from memory.
type pointSource struct {
	rows  int // -1 when not known before the end
	next  func(ctx context.Context, limit int) (*dataset.Data, error)
	close func()
}

// like refuses points of other features than those of data. A nil source stays nil.
func (s *pointSource) like(data *dataset.Data) *pointSource {
	if s == nil {
		return nil
	}
	out := *s
	out.next = func(ctx context.Context, limit int) (*dataset.Data, error) {
		part, err := s.next(ctx, limit)
		if err == nil && part.Points.Dim() != data.Points.Dim() {
			err = &fault.ShapeError{What: "number of features of " + part.Name, Got: part.Points.Dim(), Want: fmt.Sprintf("%d, as %s has", data.Points.Dim(), data.Name)}
		}
		return part, err
	}
	return &out
}

// openPoints begins to read the points that d describes. With counted their number is known from the start: then text, which
// does not tell it, is read to its end first.
func (a *app) openPoints(ctx context.Context, d *dataFlags, counted bool) (*pointSource, error) {
	o := d.options(a)
	if !inBlocks(d.path, o) || counted && d.formatName() == "csv" {
		data, err := a.readData(ctx, d)
		if err != nil {
			return nil, err
		}
		return inMemory(data), nil
	}
	s, err := session.Await(ctx, func() (*dataset.Stream, error) {
		if d.path == session.Stream {
			return dataset.DecodeStream(a.Stdin, "standard input", o.Format, o)
		}
		return dataset.OpenStream(d.path, o)
	})
	if err != nil {
		return nil, formatError(err, d.path)
	}
	next := func(ctx context.Context, limit int) (*dataset.Data, error) {
		return session.Await(ctx, func() (*dataset.Data, error) { return s.Next(limit) })
	}
	return &pointSource{rows: s.Rows(), next: next, close: func() { _ = s.Close() }}, nil // nothing was written
}

// inBlocks says whether the data at path are read a block at a time.
func inBlocks(path string, o dataset.ReadOptions) bool {
	return dataset.Streams(path, o.Format, o.Extensions...) && !o.Gram && o.Labels == ""
}

// inMemory returns the blocks of data that are there.
func inMemory(data *dataset.Data) *pointSource {
	n, at := data.Points.Len(), 0
	next := func(_ context.Context, limit int) (*dataset.Data, error) {
		if at == n {
			return nil, io.EOF
		}
		lo, hi := at, min(at+limit, n)
		at = hi
		part := *data
		part.Points = points.Slice(data.Points, lo, hi)
		if data.IDs != nil {
			part.IDs = data.IDs[lo:hi]
		}
		if data.Labels != nil {
			part.Labels = data.Labels[lo:hi]
		}
		return &part, nil
	}
	return &pointSource{rows: n, next: next, close: func() {}}
}
