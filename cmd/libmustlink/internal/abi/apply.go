package abi

import (
	"context"
	"unsafe"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Embed implements mustlink_embed.
func Embed(e *engine.Engine, m *mustlink.Model, p *Points, c *Control, out *Array) error {
	x, err := p.unchecked(false)
	if err != nil {
		return err
	}
	if err := checkFinite(e, x); err != nil { // before anything is written
		return err
	}
	if err := out.checkShape(x.Len(), m.Dim()); err != nil {
		return err
	}
	return c.run(func(ctx context.Context, _ algorithms.ProgressFunc) error {
		return m.Record().EmbedBlocks(ctx, e, &dataset.Data{Points: x}, func(first int, y blas.Matrix) error {
			return out.write(ctx, e, first, y)
		})
	})
}

// checkFinite validates dense points on all workers. Other kinds were validated when they were
// read.
func checkFinite(e *engine.Engine, x points.Points) error {
	if _, ok := x.(*points.Dense); !ok {
		return nil
	}
	return e.For(context.Background(), x.Len(), copied/max(1, x.Dim())+1, func(lo, hi int) error {
		return fault.InRows(points.Slice(x, lo, hi).Validate(), lo)
	})
}

// GramMatrix implements mustlink_gram. A nil q means p.
func GramMatrix(e *engine.Engine, m *mustlink.Model, p, q *Points, c *Control, out *Array) error {
	t, err := p.table(false, nil)
	if err != nil {
		return err
	}
	u := t
	if q != nil {
		if u, err = q.table(false, nil); err != nil {
			return err
		}
	}
	if err := out.checkShape(t.Rows(), u.Rows()); err != nil {
		return err
	}
	return c.run(func(ctx context.Context, _ algorithms.ProgressFunc) error {
		k, err := m.Gram(ctx, t, u)
		if err != nil {
			return err
		}
		raw := k.RawMatrix()
		return out.write(ctx, e, 0, blas.Matrix{Rows: raw.Rows, Cols: raw.Cols, Stride: raw.Stride, Data: raw.Data})
	})
}

// Distances implements mustlink_distances.
func Distances(e *engine.Engine, m *mustlink.Model, p *Points, pair unsafe.Pointer, count int64, c *Control, out unsafe.Pointer) error {
	switch {
	case count < 0 || count > 1<<40:
		return argument("there are %d pairs: want a number >= 0", count)
	case count > 0 && (pair == nil || out == nil):
		return argument("the pairs or the output are NULL: want pointers")
	}
	t, err := p.table(false, nil)
	if err != nil {
		return err
	}
	f := m.Record()
	x, err := f.Prepare(t.Data())
	if err != nil {
		return err
	}
	pairs := make([][2]int, count)
	rows := list[int64](pair, 2*count)
	for k := range pairs {
		pairs[k] = [2]int{int(rows[2*k]), int(rows[2*k+1])}
	}
	var d []float64
	err = c.run(func(ctx context.Context, _ algorithms.ProgressFunc) error {
		d, err = f.Model.Distances(ctx, e, x, pairs) // squared distances
		return err
	})
	if err == nil {
		copy(list[float64](out, count), d)
	}
	return err
}
