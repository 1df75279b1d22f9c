package view

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// Plane returns the coordinates of the rows of x (n x d) along the two directions in which they
// vary most (principal components), and the share of the total variance along each. If the rows
// vary in fewer directions, the other coordinates are 0. x does not change.
//
// The signs of directions are arbitrary: each is chosen so that its largest component is positive.
// Values that are not finite, or whose squares are not, are a *fault.DataError. Cost: n d min(n, d)
// flops and two eigenvectors of order min(n, d).
func Plane(ctx context.Context, eng *engine.Engine, x blas.Matrix) (first, second []float64, share [2]float64, err error) {
	n, d := x.Rows, x.Cols
	first, second = make([]float64, n), make([]float64, n)
	if n == 0 || d == 0 {
		return first, second, share, nil
	}
	m := min(n, d)
	need := engine.MatrixBytes(n, d) + engine.MatrixBytes(m, m)
	if err := eng.Check(fmt.Sprintf("principal directions of %d x %d values", n, d), need, "fit a model and pass it, or raise the memory limit"); err != nil {
		return nil, nil, share, err
	}
	centered := center(eng, x)
	defer eng.PutMatrix(centered)
	s := eng.NewMatrix(m, m)
	// The smaller of X'X and XX', which have the same positive eigenvalues.
	eng.Backend().Syrk(d <= n, 1, centered, 0, s)
	total := 0.0
	for i := range m {
		total += s.At(i, i)
	}
	if math.IsNaN(total) || math.IsInf(total, 0) {
		return nil, nil, share, fault.Data("", "values are not finite, or so large that their squares are not: want values up to 1e150 in size")
	}
	w, v, err := eng.SymEigTop(ctx, s, 2)
	if err != nil {
		return nil, nil, share, err
	}
	for r, out := range [][]float64{first, second}[:len(w)] {
		if !(w[r] > 1e-14*total) {
			break // rounding error of a direction without variance
		}
		share[r] = w[r] / total
		direction := v.Row(r)
		if d > n { // an eigenvector u of XX' belongs to the direction X'u
			direction = make([]float64, d)
			eng.Backend().Gemv(true, 1, centered, v.Row(r), 0, direction)
		}
		orient(direction)
		eng.Backend().Gemv(false, 1, centered, direction, 0, out)
	}
	return first, second, share, nil
}

// center returns x minus the mean of its rows.
func center(eng *engine.Engine, x blas.Matrix) blas.Matrix {
	mean := make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			mean[j] += v / float64(x.Rows)
		}
	}
	out := eng.GetMatrix(x.Rows, x.Cols)
	for i := range x.Rows {
		row := out.Row(i)
		for j, v := range x.Row(i) {
			row[j] = v - mean[j]
		}
	}
	return out
}

// orient scales v to unit length with a positive largest component.
func orient(v []float64) {
	square, largest := 0.0, 0.0
	for _, c := range v {
		square += c * c
		if math.Abs(c) > math.Abs(largest) {
			largest = c
		}
	}
	length := math.Sqrt(square)
	if largest < 0 {
		length = -length
	}
	for j := range v {
		v[j] /= length
	}
}
