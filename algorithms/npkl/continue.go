package npkl

import (
	"context"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// AddLinks returns the model that a fit with the links of m and those of set gives, starting from the
// places of m: that takes a few sweeps where the new links change little. x are the points that m was
// fitted on. Errors are those of [Learner.Fit]; a link that contradicts one of m, and a model of given
// similarities, which are not in it, are a *fault.DataError.
func (m *Model) AddLinks(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	if m.Params().Graph == Given {
		return nil, fault.Data("", "the model does not hold the similarities that it was fitted on: want a fit with all links")
	}
	params := m.Params()
	params.Metric = "" // the kernel is that of the metric
	return Learner{Kernel: m.Kernel().Spec(), Params: params, Start: m}.Fit(ctx, eng, x, set)
}

// widened returns v with further columns from other rows, a hundredth of them, so that the rank can grow.
func widened(v blas.Matrix, cols int, other blas.Matrix) blas.Matrix {
	cols = max(cols, v.Cols)
	out := blas.NewMatrix(v.Rows, cols)
	for i := range v.Rows {
		row := out.Row(i)
		copy(row, v.Row(i))
		for c := v.Cols; c < cols; c++ {
			row[c] = 0.01 * (other.At(i, c%other.Cols) - 0.5)
		}
	}
	return out
}
