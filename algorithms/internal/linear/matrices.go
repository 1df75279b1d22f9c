package linear

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// Axes returns a matrix L with L'L = A for the positive semidefinite matrix A. Its rows are sqrt(w)
// u' for the eigenpairs (w, u) of A, the largest eigenvalues first, at most dims of them or all for
// 0. It overwrites both triangles of A.
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

// Coordinates returns coordinates whose inner products are U' diag(weights) U: column c, of n
// values, is row c of U times the square root of its weight. Without weights it returns one column
// of zeros.
func Coordinates(u blas.Matrix, weights []float64) blas.Matrix {
	out := blas.NewMatrix(u.Cols, max(1, len(weights)))
	for c, w := range weights {
		root := math.Sqrt(w)
		for i, v := range u.Row(c) {
			out.Set(i, c, root*v)
		}
	}
	return out
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

// Whiten returns the whitening matrix W of the positive semidefinite matrix c, q x q, both
// triangles: W (C + eps I) W' = I, where eps is relative times the mean eigenvalue. The rows of W
// are the eigenvectors divided by the square roots of their eigenvalues, those of small eigenvalues
// first. With eps = 0 it drops eigenvectors whose eigenvalue is at most tol times the largest. It
// overwrites c.
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

// NoDifference returns the error for cannot-links that all join equal points.
func NoDifference() error {
	return fault.Data("", "all cannot-links join equal points: want some between points that differ")
}

// Within returns the rows of x that are in chunklets, chunklet by chunklet, each minus the mean of
// its chunklet.
func Within(x blas.Matrix, chunklets [][]int) blas.Matrix {
	n := 0
	for _, c := range chunklets {
		n += len(c)
	}
	out := blas.NewMatrix(n, x.Cols)
	next := 0
	for _, c := range chunklets {
		first := next
		for _, i := range c {
			copy(out.Row(next), x.Row(i))
			next++
		}
		Center(out.View(first, next, 0, x.Cols))
	}
	return out
}
