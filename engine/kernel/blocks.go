package kernel

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// GramBlocks evaluates the kernel matrix of x without storing it: it calls f with blocks that
// cover the lower triangle. Row blocks are a fixed partition of the rows; those of one row
// block come one after the other, in the order of their columns, others concurrently on up to
// the engine's workers. The last ones hold the row block's diagonal block, which is whole:
// elements (i, j) with j beyond the row block never appear. Values, errors and cost are those
// of [Kernel.GramTo], scratch memory a packed copy of the points and a few blocks.
//
// f may change the block and must not keep it. When f returns an error, no further blocks
// start, and GramBlocks returns it.
func (k Kernel) GramBlocks(ctx context.Context, eng *engine.Engine, x points.Points, f func(b Block) error) error {
	ev, err := k.gramEvaluation(ctx, eng, x)
	if err != nil {
		return err
	}
	defer ev.base.release()
	return ev.lower(ctx, x.Len(), tiling{}, sink{tile: f})
}

// CrossBlocks is GramBlocks for the whole kernel matrix between x and y.
// Errors are those of [Kernel.Cross], and that of f.
func (k Kernel) CrossBlocks(ctx context.Context, eng *engine.Engine, x, y points.Points, f func(b Block) error) error {
	return k.crossBlocks(ctx, eng, x, y, tiling{}, f)
}

// CrossRows is CrossBlocks with blocks of rows whole rows, the last one of fewer; 0 takes
// about 2 MiB of them. |x| x |y| values exist nowhere: scratch memory is two blocks for each
// worker.
// Errors are those of CrossBlocks, and two blocks above the memory limit.
func (k Kernel) CrossRows(ctx context.Context, eng *engine.Engine, x, y points.Points, rows int, f func(b Block) error) error {
	if rows == 0 {
		rows = max(16, min(denseTiling.rows, (2<<20)/8/max(1, y.Len())/16*16))
	}
	if err := checkMemory(eng, 2*rows, y.Len()); err != nil {
		return err
	}
	return k.crossBlocks(ctx, eng, x, y, tiling{rows, max(1, y.Len())}, f)
}

func (k Kernel) crossBlocks(ctx context.Context, eng *engine.Engine, x, y points.Points, t tiling, f func(b Block) error) error {
	ev, err := k.crossEvaluation(ctx, eng, x, y)
	if err != nil {
		return err
	}
	defer ev.base.release()
	return ev.rectangular(ctx, x.Len(), y.Len(), t, sink{tile: f})
}

// Squared returns the kernel whose values are the squared distances in this one's feature
// space, K_ii + K_jj - 2 K_ij, never negative, with a diagonal of zeros. It is not positive
// semidefinite and has no text.
func (k Kernel) Squared() Kernel {
	stages := append(make([]stage, 0, len(k.stages)+1), k.stages...)
	return Kernel{spec: k.spec, stages: append(stages, stage{kind: distance})}
}

// GramSumsTo is [Kernel.GramTo] that also returns the sum of every row, taken while the tiles
// are in the cache: what centring in feature space needs, without another pass over the
// matrix. An error of n eps times the sum of absolute values; the same bits for any number of
// workers.
func (k Kernel) GramSumsTo(ctx context.Context, eng *engine.Engine, dst blas.Matrix, x points.Points) ([]float64, error) {
	checkShape(dst, x.Len(), x.Len())
	ev, err := k.gramEvaluation(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	defer ev.base.release()
	w, t := ev.into(dst), ev.base.tiling()
	sums := make([]float64, dst.Rows)
	// Row j also has elements in the tiles of later rows, as their column j: one sum of each
	// column for each block of rows, to be added up in order.
	blocks := (dst.Rows + t.rows - 1) / t.rows
	below := make([][]float64, blocks)
	err = ev.lower(ctx, dst.Rows, t, sink{end: w.end, tile: func(b Block) error {
		w.place(b.Matrix, b.Row, b.Col)
		left := b.before(b.Row)
		w.placeTransposed(left)
		block := b.Row / t.rows
		if below[block] == nil {
			below[block] = make([]float64, b.Row)
		}
		columns := below[block][left.Col : left.Col+left.Matrix.Cols]
		for r := range b.Matrix.Rows {
			sums[b.Row+r] += ev.t.Sum(b.Matrix.Row(r))
			ev.t.Axpy(1, left.Matrix.Row(r), columns)
		}
		return nil
	}})
	if err != nil {
		return nil, err
	}
	for _, columns := range below {
		ev.t.Axpy(1, columns, sums[:len(columns)])
	}
	return sums, nil
}

// Gram32 is [Kernel.Gram] stored in single precision: values are computed in double precision
// and rounded once. Half the memory. A value beyond the range of float32 becomes infinite.
// Errors are those of Gram, with 4n^2 bytes.
func (k Kernel) Gram32(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix32, error) {
	n := x.Len()
	if err := checkMemory32(eng, n, n); err != nil {
		return blas.Matrix32{}, err
	}
	ev, err := k.gramEvaluation(ctx, eng, x)
	if err != nil {
		return blas.Matrix32{}, err
	}
	defer ev.base.release()
	w := single{ev, blas.NewMatrix32(n, n)}
	return w.dst, ev.lower(ctx, n, tiling{}, sink{tile: func(b Block) error {
		w.place(b.Matrix, b.Row, b.Col)
		left := b.before(b.Row)
		if left.Matrix.Rows == 0 || left.Matrix.Cols == 0 {
			return nil
		}
		turned := ev.eng.GetMatrix(left.Matrix.Cols, left.Matrix.Rows)
		ev.t.Interleave(turned.Data, turned.Stride, turned.Rows, left.Matrix.Data, left.Matrix.Stride, left.Matrix.Rows)
		w.place(turned, left.Col, left.Row)
		ev.eng.PutMatrix(turned)
		return nil
	}})
}

// Cross32 is [Kernel.Cross] stored in single precision, as in [Kernel.Gram32].
// Errors are those of Cross, with 4 |x| |y| bytes.
func (k Kernel) Cross32(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix32, error) {
	if err := checkMemory32(eng, x.Len(), y.Len()); err != nil {
		return blas.Matrix32{}, err
	}
	ev, err := k.crossEvaluation(ctx, eng, x, y)
	if err != nil {
		return blas.Matrix32{}, err
	}
	defer ev.base.release()
	w := single{ev, blas.NewMatrix32(x.Len(), y.Len())}
	return w.dst, ev.rectangular(ctx, x.Len(), y.Len(), tiling{}, sink{tile: func(b Block) error {
		w.place(b.Matrix, b.Row, b.Col)
		return nil
	}})
}

// single writes a kernel matrix in single precision.
type single struct {
	*evaluation
	dst blas.Matrix32
}

func (w single) place(m blas.Matrix, i, j int) {
	for r := range m.Rows {
		w.t.Narrow(w.dst.Row(i + r)[j:j+m.Cols], m.Row(r))
	}
}

func checkMemory32(eng *engine.Engine, rows, cols int) error {
	bytes := engine.MatrixBytes(rows, cols) / 2
	return eng.Check(fmt.Sprintf("kernel matrix %d x %d of single precision", rows, cols), bytes, "use fewer points or landmarks, or raise the memory limit")
}
