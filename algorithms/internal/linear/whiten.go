package linear

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// Whiten returns W, rows of unit spread under the positive semidefinite matrix c, q x q, both triangles, which it
// overwrites: W (C + eps I) W' = I for eps = relative times the mean eigenvalue. The rows are the eigenvectors over the
// roots of their eigenvalues, those of small eigenvalues first. With eps = 0, eigenvectors up to tol of the largest
// eigenvalue are left out.
func Whiten(ctx context.Context, eng *engine.Engine, c blas.Matrix, relative, tol float64) (blas.Matrix, error) {
	q := c.Rows
	w, trace := make([]float64, q), 0.0
	if err := CheckCovariance(c); err != nil {
		return c, err
	}
	if err := eng.SymEig(ctx, c, w, true); err != nil {
		return c, err
	}
	for _, v := range w {
		trace += max(0, v)
	}
	eps, first := relative*trace/float64(q), 0
	for eps == 0 && first < q && !(w[first] > tol*w[q-1]) {
		first++
	}
	out := blas.NewMatrix(q-first, q)
	for r := range out.Rows {
		factor := 1 / math.Sqrt(max(0, w[first+r])+eps)
		for j, v := range c.Row(first + r) {
			out.Set(r, j, factor*v)
		}
	}
	return out, nil
}
