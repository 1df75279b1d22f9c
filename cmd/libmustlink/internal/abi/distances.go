package abi

import (
	"context"
	"math"
	"unsafe"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// GramMatrix implements mustlink_gram. A nil q means p.
func GramMatrix(e *engine.Engine, m *mustlink.Model, p, q *Points, c *Control, out *Array) error {
	t, err := p.table(false, fills(m), nil)
	if err != nil {
		return err
	}
	u := t
	if q != nil {
		if u, err = q.table(false, fills(m), nil); err != nil {
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
		return out.write(ctx, e, 0,
			blas.Matrix{Rows: raw.Rows, Cols: raw.Cols, Stride: raw.Stride, Data: raw.Data})
	})
}

// Distances implements mustlink_euclidean_distances and, squared, mustlink_distances.
func Distances(e *engine.Engine, m *mustlink.Model, p *Points, pair unsafe.Pointer, count int64, c *Control,
	squared bool, out unsafe.Pointer) error {
	switch {
	case count < 0 || count > 1<<40:
		return argument("there are %d pairs: want a number >= 0", count)
	case count > 0 && (pair == nil || out == nil):
		return argument("the pairs or the output are NULL: want pointers")
	}
	t, err := p.table(false, fills(m), nil)
	if err != nil {
		return err
	}
	m = on(e, m)
	x, err := m.Prepared(t.Data())
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
		d, err = m.SquaredDistances(ctx, x, pairs)
		return err
	})
	for k, v := range d {
		if !squared {
			d[k] = math.Sqrt(v)
		}
	}
	if err == nil {
		copy(list[float64](out, count), d)
	}
	return err
}
