package kernel

import (
	"cmp"
	"context"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// tiling is the shape of the tiles in which a kernel matrix is evaluated. A tile and the
// panel of y that it reads should fit the second-level cache while the maps pass over it.
type tiling struct{ rows, cols int }

// The tilings of the bases. The values are empirical; results do not depend on them.
var (
	denseTiling  = tiling{rows: 128, cols: 512} // 512 KiB
	sparseTiling = tiling{rows: 32, cols: 4096} // one row of a tile fits the first-level cache
)

// evaluation is a base with a kernel's maps and the self products that each of them needs.
type evaluation struct {
	base   base
	stages []stage
	xx, yy [][]float64 // per stage: <x_i,x_i> and <y_j,y_j> as that stage sees them
}

// evaluate prepares the maps. It returns an *errNorm if a self product is not representable.
func (k Kernel) evaluate(b base) (*evaluation, error) {
	xx, yy := b.norms()
	ev := &evaluation{base: b, stages: k.stages}
	for _, st := range k.stages {
		if err := firstError(checkNorms(yy), checkNorms(xx)); err != nil {
			return nil, err
		}
		ev.xx, ev.yy = append(ev.xx, xx), append(ev.yy, yy)
		xx, yy = st.selves(xx), st.selves(yy)
	}
	return ev, firstError(checkNorms(yy), checkNorms(xx))
}

func (s stage) selves(norms []float64) []float64 {
	out := make([]float64, len(norms))
	for i, v := range norms {
		out[i] = s.self(v)
	}
	return out
}

// rectangular fills dst by row blocks, each by column tiles.
func (ev *evaluation) rectangular(ctx context.Context, eng *engine.Engine, dst blas.Matrix, t tiling) error {
	t = cmp.Or(t, ev.base.tiling())
	return eng.For(ctx, dst.Rows, t.rows, func(lo, hi int) error {
		rows := ev.base.load(lo, hi)
		defer ev.base.unload(rows)
		for j0 := 0; j0 < dst.Cols; j0 += t.cols {
			if err := ctx.Err(); err != nil {
				return err
			}
			tile := dst.View(lo, hi, j0, min(j0+t.cols, dst.Cols))
			if err := ev.tile(tile, rows, lo, j0); err != nil {
				return err
			}
		}
		return nil
	})
}

// symmetric fills dst from its lower triangle: each row block computes its tiles up to the
// diagonal and writes their mirror images, so that every element has one owner.
func (ev *evaluation) symmetric(ctx context.Context, eng *engine.Engine, dst blas.Matrix, diagonal []float64, t tiling) error {
	t = cmp.Or(t, ev.base.tiling())
	n := dst.Rows
	blocks := (n + t.rows - 1) / t.rows
	return eng.For(ctx, blocks, 1, func(b, _ int) error {
		// The last row blocks are the longest: they go first, to balance the workers.
		lo := (blocks - 1 - b) * t.rows
		hi := min(lo+t.rows, n)
		rows := ev.base.load(lo, hi)
		defer ev.base.unload(rows)
		for j0 := 0; j0 < hi; j0 += t.cols {
			if err := ctx.Err(); err != nil {
				return err
			}
			j1 := min(j0+t.cols, hi)
			if err := ev.tile(dst.View(lo, hi, j0, j1), rows, lo, j0); err != nil {
				return err
			}
			mirror(dst, lo, hi, j0, j1)
		}
		for i := lo; i < hi; i++ {
			dst.Set(i, i, diagonal[i])
		}
		return nil
	})
}

// tile computes one tile, whose first element is (lo, j0), and applies the maps to it.
func (ev *evaluation) tile(tile, rows blas.Matrix, lo, j0 int) error {
	ev.base.fill(tile, rows, lo, j0)
	for r := range tile.Rows {
		row := tile.Row(r)
		ev.applyRow(row, lo+r, j0)
		if j := firstNonFinite(row); j >= 0 {
			return &fault.DataError{Row: lo + r, Err: overflowError(row[j], j0+j)}
		}
	}
	return nil
}

// applyRow applies the maps to <x_i, y_j>, j from j0.
func (ev *evaluation) applyRow(row []float64, i, j0 int) {
	var diff differences
	if ev.base.vectors() {
		diff = differences{ev.base, i, j0}
	}
	for s, st := range ev.stages {
		st.applyRow(row, ev.xx[s][i], ev.yy[s][j0:j0+len(row)], diff)
		diff = differences{} // only the first map is about the points' own distances
	}
}

// mirror copies the part of rows [lo, hi), columns [j0, j1) below the diagonal to the
// transposed places above it.
func mirror(dst blas.Matrix, lo, hi, j0, j1 int) {
	// Eight columns at a time: one cache line of each source row feeds eight target rows.
	for j := j0; j < j1; j += 8 {
		end := min(j+8, j1)
		for i := max(lo, j+1); i < hi; i++ {
			for c, v := range dst.Row(i)[j:min(end, i)] {
				dst.Data[(j+c)*dst.Stride+i] = v
			}
		}
	}
}
