package basis

import (
	"context"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/solvers/eigen"
	"github.com/mustlink/mustlink/solvers/operator"
)

// Scaled returns the leading eigenpairs, dims of them, of the inner products -H D^2 H / 2 that distances D come to, which are
// overwritten: classical scaling (Torgerson 1952). Eigenvalues may be negative where the distances are not those of a Euclidean space.
func Scaled(ctx context.Context, eng *engine.Engine, d blas.Matrix, dims int, o eigen.Options) (*eigen.Result, error) {
	centre(d)
	gram, err := operator.Dense(d)
	if err != nil {
		return nil, err
	}
	return eigen.Top(ctx, eng, gram, dims, o)
}

// centre replaces distances by the inner products -H D^2 H / 2.
func centre(d blas.Matrix) {
	n := d.Rows
	means, mean := make([]float64, n), 0.0
	for i := range n {
		row := d.Row(i)
		for j, v := range row {
			row[j] = v * v
			means[i] += row[j] / float64(n)
		}
		mean += means[i] / float64(n)
	}
	for i := range n {
		row := d.Row(i)
		for j, v := range row {
			row[j] = -0.5 * (v - (means[i] + means[j]) + mean)
		}
	}
}
