package graphkernel

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// Axes returns the eigenvalues w of Z = V V' that are more than tol times the largest, descending, and
// their unit eigenvectors as rows, for V of n rows and few columns.
func Axes(ctx context.Context, eng *engine.Engine, v blas.Matrix, tol float64) (rows blas.Matrix, w []float64, err error) {
	r := v.Cols
	gram, values := blas.NewMatrix(r, r), make([]float64, r)
	eng.Backend().Syrk(true, 1, v, 0, gram)
	if err := eng.SymEig(ctx, gram, values, true); err != nil {
		return rows, nil, err
	}
	for c := r - 1; c >= 0 && values[c] > tol*values[r-1]; c-- {
		w = append(w, values[c])
	}
	turn := blas.NewMatrix(len(w), r)
	rows = blas.NewMatrix(len(w), v.Rows)
	for k := range w {
		copy(turn.Row(k), gram.Row(r-1-k))
	}
	eng.Backend().Gemm(false, true, 1, turn, v, 0, rows)
	for k, s := range w {
		eng.Backend().Kernels().Scale(1/math.Sqrt(s), rows.Row(k))
	}
	return rows, w, ctx.Err()
}

// OnAxes turns places, n x r, to the axes of their kernel matrix that [Axes] keeps, the largest first; one
// column of zeros if there are none.
func OnAxes(ctx context.Context, eng *engine.Engine, v blas.Matrix, tol float64) (blas.Matrix, error) {
	rows, w, err := Axes(ctx, eng, v, tol)
	if err != nil {
		return blas.Matrix{}, err
	}
	out := blas.NewMatrix(v.Rows, max(1, len(w)))
	for k, s := range w {
		root := math.Sqrt(s)
		for i, u := range rows.Row(k) {
			out.Set(i, k, root*u)
		}
	}
	return out, nil
}
