package rows

import (
	"context"
	"errors"
	"io"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/coordinates"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/internal/session"
)

func init() {
	register.DoFn2x2[context.Context, shard.Element, job.Tally, error](&embedFn{})
}

// Embed maps the rows of all elements to the coordinates of the model, and writes a file for each
// element.
func Embed(s beam.Scope, c job.Config, elements []shard.Element, out shard.Output) {
	c.Over(s.Scope("embed"), &embedFn{Config: c, Output: out}, elements)
}

// embedFn embeds the rows of an element.
type embedFn struct {
	Config job.Config
	Output shard.Output
}

func (f *embedFn) ProcessElement(ctx context.Context, e shard.Element) (job.Tally, error) {
	return f.Config.Each(ctx, e, func(ctx context.Context, w *job.Worker, r *shard.Reader) (int64, error) {
		return f.embed(ctx, w, r, f.Output.Name(e.Index, e.Count))
	})
}

// embed writes the coordinates to a file, block by block.
func (f *embedFn) embed(ctx context.Context, w *job.Worker, r *shard.Reader, path string) (int64, error) {
	dim := w.Model.Dim()
	computed, stop := prefetch(ctx, r, w.Model.Record().BlockRows(0),
		func(ctx context.Context, block shard.Block) (dataset.Rows, error) {
			y, err := coordinates.Of(ctx, w, block)
			return dataset.Rows{Data: y.Data, IDs: block.IDs}, err
		})
	defer stop()
	written := int64(0)
	next := func() (dataset.Rows, error) {
		rows, err := computed()
		written += int64(len(rows.Data) / dim)
		return rows, err
	}
	err := write(path, dim, next, dataset.WriteOptions{Extensions: session.Extensions()})
	return written, err
}

// prefetch returns the values of f for the blocks of a reader: while one value is used, the next is
// computed and another block is read.
func prefetch[T any](ctx context.Context, r *shard.Reader, rows int,
	f func(context.Context, shard.Block) (T, error)) (next func() (T, error), stop func()) {
	read, stopReading := dataset.Prefetch(ctx, func(context.Context) (shard.Block, error) {
		return r.Next(rows)
	})
	next, stopComputing := dataset.Prefetch(ctx, func(ctx context.Context) (T, error) {
		block, err := read()
		if err != nil {
			return *new(T), err
		}
		return f(ctx, block)
	})
	return next, func() {
		stopComputing()
		stopReading()
	}
}

// write writes rows whose number is not known. Formats that store the number first and cannot go
// back to it need all rows in memory.
func write(path string, cols int, next func() (dataset.Rows, error), o dataset.WriteOptions) error {
	if !dataset.CountsFirst(path, o) {
		return dataset.WriteRows(path, -1, cols, next, o)
	}
	var all []float64
	for {
		rows, err := next()
		if errors.Is(err, io.EOF) {
			return dataset.WriteMatrix(path, len(all)/cols, cols, all, cols, nil, o)
		}
		if err != nil {
			return err
		}
		all = append(all, rows.Data...)
	}
}
