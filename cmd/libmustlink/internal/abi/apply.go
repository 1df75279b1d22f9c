package abi

import (
	"context"
	"errors"
	"unsafe"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Rows are embedded in the blocks of `mustlink embed`, so that both have the same bits in every build.
const (
	blockBytes = 16 << 20
	mostRows   = 1 << 14
)

// rowsOfBlock returns how many rows are embedded at a time.
func rowsOfBlock(m algorithms.Model) int {
	width := m.Dim()
	if in, ok := m.(algorithms.Inputs); ok {
		width = max(width, in.InputDim())
	}
	return min(max(1, blockBytes/8/max(1, width)), mostRows)
}

// Embed is mustlink_embed.
func Embed(e *engine.Engine, fitted *catalog.Fitted, p *Points, c *Control, out *Array) error {
	x, err := p.unseen(false)
	if err != nil {
		return err
	}
	if err := finite(e, x); err != nil { // before anything is written
		return err
	}
	if err := out.wantShape(x.Len(), fitted.Model.Dim()); err != nil {
		return err
	}
	most := rowsOfBlock(fitted.Model)
	return c.run(func(ctx context.Context, _ algorithms.ProgressFunc) error {
		if x.Len() <= most {
			return embedRows(ctx, e, fitted, x, 0, out)
		}
		for lo := 0; lo < x.Len(); lo += most {
			if err := ctx.Err(); err != nil {
				return err
			}
			part := points.Slice(x, lo, min(lo+most, x.Len()))
			if err := embedRows(ctx, e, fitted, part, lo, out); err != nil {
				return err
			}
		}
		return nil
	})
}

// finite is Validate of dense points, on all workers: other kinds were looked at when they were read.
func finite(e *engine.Engine, x points.Points) error {
	if _, ok := x.(*points.Dense); !ok {
		return nil
	}
	return e.For(context.Background(), x.Len(), copied/max(1, x.Dim())+1, func(lo, hi int) error {
		return inRows(points.Slice(x, lo, hi).Validate(), lo)
	})
}

// embedRows embeds points that are rows lo and on of the output.
func embedRows(ctx context.Context, e *engine.Engine, fitted *catalog.Fitted, part points.Points, lo int, out *Array) error {
	x, err := fitted.Prepare(&dataset.Data{Points: part})
	if err != nil {
		return inRows(err, lo)
	}
	y, err := fitted.Model.Embed(ctx, e, x)
	if err != nil {
		return inRows(err, lo)
	}
	return out.write(ctx, e, lo, y)
}

// inRows moves the row that an error names by that of the block's beginning.
func inRows(err error, lo int) error {
	if de, ok := errors.AsType[*fault.DataError](err); ok && de.Row >= 0 && error(de) == err {
		moved := *de
		moved.Row += lo
		return &moved
	}
	return err
}

// ready reads points and makes them those of a model.
func ready(fitted *catalog.Fitted, p *Points) (points.Points, error) {
	x, err := p.read(false)
	if err != nil {
		return nil, err
	}
	return fitted.Prepare(&dataset.Data{Points: x})
}

// Gram is mustlink_gram; a nil q stands for p.
func GramMatrix(e *engine.Engine, fitted *catalog.Fitted, p, q *Points, c *Control, out *Array) error {
	x, err := ready(fitted, p)
	if err != nil {
		return err
	}
	var y points.Points
	cols := x.Len()
	if q != nil {
		if y, err = ready(fitted, q); err != nil {
			return err
		}
		cols = y.Len()
	}
	if err := out.wantShape(x.Len(), cols); err != nil {
		return err
	}
	return c.run(func(ctx context.Context, _ algorithms.ProgressFunc) error {
		k, err := fitted.Model.Gram(ctx, e, x, y)
		if err != nil {
			return err
		}
		return out.write(ctx, e, 0, k)
	})
}

// Distances is mustlink_distances.
func Distances(e *engine.Engine, fitted *catalog.Fitted, p *Points, pair unsafe.Pointer, count int64, c *Control, out unsafe.Pointer) error {
	switch {
	case count < 0 || count > 1<<40:
		return argument("there are %d pairs: want a number >= 0", count)
	case count > 0 && (pair == nil || out == nil):
		return argument("the pairs or the output are NULL")
	}
	x, err := ready(fitted, p)
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
		d, err = fitted.Model.Distances(ctx, e, x, pairs)
		return err
	})
	if err == nil {
		copy(list[float64](out, count), d)
	}
	return err
}
