package linear

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// Axes returns L with L'L = A, positive semidefinite, both triangles of which it overwrites: rows sqrt(w) u' for the
// eigenpairs of A, the largest first, at most dims of them unless that is 0.
func Axes(ctx context.Context, eng *engine.Engine, a blas.Matrix, dims int) (blas.Matrix, error) {
	n := a.Rows
	w := make([]float64, n)
	if err := eng.SymEig(ctx, a, w, true); err != nil {
		return blas.Matrix{}, err
	}
	if dims == 0 || dims > n {
		dims = n
	}
	out := blas.NewMatrix(dims, n)
	for k := range dims {
		root := math.Sqrt(max(0, w[n-1-k]))
		for c, v := range a.Row(n - 1 - k) {
			out.Set(k, c, root*v)
		}
	}
	return out, nil
}

// DivideColumns divides each column of m by its unit.
func DivideColumns(m blas.Matrix, units []float64) {
	for i := range m.Rows {
		row := m.Row(i)
		for c, unit := range units {
			row[c] /= unit
		}
	}
}
