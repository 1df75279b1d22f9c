package kernel

import (
	"context"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

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
