// Package coordinates returns the coordinates of rows: their own values, or their embedding under a
// model.
package coordinates

import (
	"context"
	"errors"
	"io"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/session"
)

// Of returns the coordinates of a block's rows, without gaps between them.
func Of(ctx context.Context, w *job.Worker, block shard.Block) (blas.Matrix, error) {
	if w.Model == nil {
		x, err := Values(block.Data)
		return x, block.Locate(err)
	}
	y, err := w.Model.Coordinates(ctx, block.Data)
	if err != nil {
		return blas.Matrix{}, block.Locate(err)
	}
	if y.Stride != y.Cols {
		y = y.Clone()
	}
	y.Data = y.Data[:y.Rows*y.Cols]
	return y, nil
}

// Values returns the values of vectors. It shares memory with them.
func Values(d *dataset.Data) (blas.Matrix, error) {
	x, ok := d.Points.(*points.Dense)
	if !ok {
		return blas.Matrix{}, fault.Data(d.Name, "its rows have no coordinates without a model: want vectors")
	}
	return kernel.Matrix(x), nil
}

// Dim returns the number of coordinates of rows with the given number of values.
func Dim(w *job.Worker, rows int) int {
	if w.Model == nil {
		return rows
	}
	return w.Model.Dim()
}

// Each calls f with the coordinates of all rows of a reader, a block at a time, and returns the
// number of rows.
func Each(ctx context.Context, w *job.Worker, r *shard.Reader,
	f func(block shard.Block, x blas.Matrix) error) (rows int64, err error) {
	most := rowsEach(w)
	for {
		if err := ctx.Err(); err != nil {
			return rows, context.Cause(ctx)
		}
		block, err := r.Next(most)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		x, err := Of(ctx, w, block)
		if err != nil {
			return rows, err
		}
		if err := f(block, x); err != nil {
			return rows, block.Locate(err)
		}
		rows += int64(x.Rows)
	}
}

// OfElement calls f with the coordinates of all rows of an element, a block at a time; see
// [job.Config.Each].
func OfElement(ctx context.Context, c job.Config, e shard.Element,
	f func(w *job.Worker, block shard.Block, x blas.Matrix) error) (job.Tally, error) {
	return c.Each(ctx, e, func(ctx context.Context, w *job.Worker, r *shard.Reader) (int64, error) {
		_, err := Each(ctx, w, r, func(block shard.Block, x blas.Matrix) error { return f(w, block, x) })
		return 0, err
	})
}

// Read reads coordinates from a file.
func Read(path string) (blas.Matrix, error) {
	d, err := dataset.Read(path, dataset.ReadOptions{IgnoreLabels: true, Extensions: session.Extensions()})
	if err != nil {
		return blas.Matrix{}, err
	}
	return Values(d)
}

// Vectors returns coordinates as vectors. They share memory with them.
func Vectors(x blas.Matrix) *points.Dense {
	return kernel.Rows(x)
}

// maxRows is the number of rows of a block without a model.
const maxRows = 1 << 14

func rowsEach(w *job.Worker) int {
	if w.Model == nil {
		return maxRows
	}
	return w.Model.Record().BlockRows(0)
}
