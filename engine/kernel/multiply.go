package kernel

import (
	"context"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/tile"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// MultiplyTo writes the |x| x r matrix K V to dst, where K is the |x| x |y| kernel matrix between x
// and y, which is never stored, and V is |y| x r. With r = 1 it is a kernel-vector product. Every
// bit of row i of the result depends only on point i of x, on y and on V.
//
// Errors are those of [Kernel.Cross]. It panics if the shapes do not agree. Cost: |x| |y| (2d + 2r)
// flops and one map per pair; scratch memory is a packed copy of y and of V.
func (k Kernel) MultiplyTo(ctx context.Context, eng *engine.Engine, dst blas.Matrix, x, y points.Points, v blas.Matrix) error {
	checkShape(v, y.Len(), v.Cols)
	checkShape(dst, x.Len(), v.Cols)
	if err := eng.Check("packed copy of the factor", engine.MatrixBytes(v.Rows, v.Cols), "use fewer columns or raise the memory limit"); err != nil {
		return err
	}
	ev, err := k.crossEvaluation(ctx, eng, x, y)
	if err != nil {
		return err
	}
	defer ev.base.release()
	t := tiling{multiplyRows, multiplyCols}
	if y.Len() == 0 {
		clearRows(dst)
		return nil
	}
	if v.Cols < fewColumns {
		return ev.multiplyFew(ctx, dst, v, t)
	}
	return ev.multiply(ctx, dst, v, t)
}

// The tiles of a product, and the number of columns of V from which the register tile pays.
const (
	multiplyRows = 96
	multiplyCols = 576
	fewColumns   = 4
)

// Terms are summed in blocks of sumDepth. The terms of a metric may exceed their sum thousands of
// times: short blocks lose less than half as much to rounding as those that fill a cache, and take
// 13 to 18 percent more time. The sums of sumColumns columns of V stay in a cache meanwhile.
const (
	sumDepth   = 32
	sumColumns = 192
)

func clearRows(m blas.Matrix) {
	for i := range m.Rows {
		clear(m.Row(i))
	}
}

// multiply sums the products of tiles with the corresponding rows of V, which are packed once.
func (ev *evaluation) multiply(ctx context.Context, dst, v blas.Matrix, t tiling) error {
	height := padded(t.rows, ev.t.MR)
	width, step := padded(v.Cols, ev.t.NR), padded(sumColumns, ev.t.NR)
	memory := ev.eng.GetMatrix(1, width*v.Rows)
	defer ev.eng.PutMatrix(memory)
	shallow := *ev.t
	shallow.KC = sumDepth
	parts := (v.Rows + t.cols - 1) / t.cols
	right := make([]tile.Packed, parts)
	err := ev.eng.For(ctx, parts, 1, func(p, _ int) error {
		lo, hi := p*t.cols, min((p+1)*t.cols, v.Rows)
		right[p] = tile.NewRight(&shallow, v.Cols, hi-lo, memory.Data[width*lo:width*hi])
		right[p].PackColumns(v.View(lo, hi, 0, v.Cols), 0)
		return nil
	})
	if err != nil {
		return err
	}
	return ev.eng.For(ctx, dst.Rows, t.rows, func(lo, hi int) error {
		sum := ev.eng.GetMatrix(height, width)
		defer ev.eng.PutMatrix(sum)
		packed := ev.eng.GetMatrix(1, tile.LeftSize(ev.t, t.rows, t.cols))
		defer ev.eng.PutMatrix(packed)
		beta := 0.0
		s := ev.newStrip(lo, hi, min(t.cols, v.Rows), sink{tile: func(b Block) error {
			left := tile.NewLeft(&shallow, b.Matrix.Rows, b.Matrix.Cols, packed.Data)
			left.Pack(b.Matrix, 0)
			for j := 0; j < width; j += step {
				to := sum.View(0, padded(hi-lo, ev.t.MR), j, min(j+step, width))
				tile.MultiplyPacked(beta, to, &left, &right[b.Col/t.cols], j)
			}
			beta = 1
			return nil
		}})
		defer s.end()
		if err := s.tiles(ctx, v.Rows, t.cols); err != nil {
			return err
		}
		for i := lo; i < hi; i++ {
			copy(dst.Row(i), sum.Row(i - lo)[:v.Cols])
		}
		return nil
	})
}

// multiplyFew is multiply for a V of few columns, which it copies to contiguous memory.
func (ev *evaluation) multiplyFew(ctx context.Context, dst, v blas.Matrix, t tiling) error {
	columns := ev.eng.GetMatrix(v.Cols, v.Rows)
	defer ev.eng.PutMatrix(columns)
	for i := range v.Rows {
		for c, value := range v.Row(i) {
			columns.Set(c, i, value)
		}
	}
	return ev.rectangular(ctx, dst.Rows, v.Rows, t, sink{tile: func(b Block) error {
		for r := range b.Matrix.Rows {
			row := dst.Row(b.Row + r)
			if b.Col == 0 {
				clear(row)
			}
			for c := range row {
				row[c] += ev.t.Dot(b.Matrix.Row(r), columns.Row(c)[b.Col:b.Col+b.Matrix.Cols])
			}
		}
		return nil
	}})
}
