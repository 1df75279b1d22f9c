// Package linear is the common part of linear methods: principal coordinates of features and in the
// feature space of a kernel, whitening, scatter matrices, discriminants, the classes that links
// define, and the choice of neighbors by softmax.
package linear

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Principal holds points in their principal coordinates.
type Principal struct {
	Mean       []float64   // length d
	Directions blas.Matrix // q x d, orthonormal rows, by descending variance
	Variances  []float64   // length q, descending
	Z          blas.Matrix // n x q: the centered points in these directions
}

// NewPrincipal computes the principal coordinates of x. It drops directions whose variance (divisor
// n) is at most tol times the largest, and so constant and collinear features.
//
// Cost for n points of d features: the eigendecomposition of a matrix of order min(n, d), and
// 4 n d min(n, d) flops.
//
// Errors: a *fault.DataError for points that are all equal, or so large that their covariance
// overflows; a *fault.MemoryError for a request above the memory limit.
func NewPrincipal(ctx context.Context, eng *engine.Engine, x *points.Dense, tol float64) (*Principal, error) {
	return NewPrincipalOf(ctx, eng, x, tol, nil)
}

// NewPrincipalOf is NewPrincipal with only the given rows in Z, in their order; nil means all rows.
// The directions are those of all points.
func NewPrincipalOf(ctx context.Context, eng *engine.Engine, x *points.Dense, tol float64,
	rows []int) (*Principal, error) {
	small := min(x.N, x.D)
	need := 2*engine.MatrixBytes(x.N, x.D) + 2*engine.MatrixBytes(small, small)
	if err := eng.Check(fmt.Sprintf("principal coordinates of %d points of %d features", x.N, x.D), need,
		"use fewer points or features"); err != nil {
		return nil, err
	}
	centered := eng.GetMatrix(x.N, x.D)
	defer eng.PutMatrix(centered)
	for i := range x.N {
		copy(centered.Row(i), x.Row(i))
	}
	p := &Principal{Mean: Center(centered)}
	vectors, values, err := Eigen(ctx, eng, centered, x.D <= x.N, x.N)
	if err != nil {
		return nil, err
	}
	first, last := 0, len(values)-1 // ascending
	for first < last && !(values[first] > tol*values[last]) {
		first++
	}
	if !(values[last] > 0) {
		return nil, fault.Data("", "all points are equal: want points that vary")
	}
	q := len(values) - first
	p.Directions, p.Variances = blas.NewMatrix(q, x.D), make([]float64, q)
	for r := range q {
		p.Variances[r] = values[last-r]
	}
	descending := blas.NewMatrix(q, small)
	for r := range q {
		copy(descending.Row(r), vectors.Row(last-r))
	}
	if x.D <= x.N {
		p.Directions = descending
	} else { // the eigenvectors are those of the matrix of inner products
		eng.Backend().Gemm(false, false, 1, descending, centered, 0, p.Directions)
		for r, v := range p.Variances {
			eng.Backend().Kernels().Scale(1/math.Sqrt(v*float64(x.N)), p.Directions.Row(r))
		}
	}
	from := centered
	if rows != nil {
		from = centered.Select(rows)
	}
	p.Z = eng.NewMatrix(from.Rows, q)
	eng.Backend().Gemm(false, true, 1, from, p.Directions, 0, p.Z)
	return p, ctx.Err()
}

// Constant is the variance, relative to the largest, up to which methods without a parameter for it
// drop directions.
const Constant = 1e-10

// Units returns, for every direction, the square root of the mean variance. Divided by it, the
// points no longer depend on the unit of their features.
func (p *Principal) Units() []float64 {
	mean, q := 0.0, len(p.Variances)
	for _, v := range p.Variances {
		mean += v / float64(q)
	}
	return slices.Repeat([]float64{math.Sqrt(mean)}, q)
}

// StandardDeviations returns the square root of the variance of each direction.
func (p *Principal) StandardDeviations() []float64 {
	out := make([]float64, len(p.Variances))
	for c, v := range p.Variances {
		out[c] = math.Sqrt(v)
	}
	return out
}

// Keep drops all but the first q directions.
func (p *Principal) Keep(q int) {
	if q < len(p.Variances) {
		p.Directions = p.Directions.View(0, q, 0, p.Directions.Cols)
		p.Variances = p.Variances[:q]
		p.Z = p.Z.View(0, p.Z.Rows, 0, q)
	}
}

// RankEighth, as a rank, means an eighth of the linked points, rounded up.
const RankEighth = -1

// KeepRank drops all but the first directions, as many as a parameter rank says: all for 0, or
// [RankEighth] of so many linked points.
func (p *Principal) KeepRank(rank, linked int) {
	switch rank {
	case 0:
	case RankEighth:
		p.Keep((linked + 7) / 8)
	default:
		p.Keep(rank)
	}
}

// Map returns the map of the named method that applies t, Dim x q, to principal coordinates.
func (p *Principal) Map(eng *engine.Engine, method string, t blas.Matrix) *fitted.Map {
	w := blas.NewMatrix(t.Rows, len(p.Mean))
	eng.Backend().Gemm(false, false, 1, t, p.Directions, 0, w)
	return fitted.NewLinear(method, p.Mean, w)
}

// Mean returns the mean of the rows, on one core: it reads x once, and all callers multiply x by
// matrices. It averages differences from the first row, so that the mean of equal values is exactly
// this value and a constant feature has no variance at all.
func Mean(x blas.Matrix) []float64 {
	mean := make([]float64, x.Cols)
	if x.Rows == 0 {
		return mean
	}
	first := x.Row(0)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			mean[j] += v - first[j]
		}
	}
	for j := range mean {
		mean[j] = first[j] + mean[j]/float64(x.Rows)
	}
	return mean
}

// Variance returns the sum of the variances of the columns. It runs on one core: it reads a few
// numbers a row, which takes little next to the fit of a member.
func Variance(eng *engine.Engine, y blas.Matrix) float64 {
	centered, sum := eng.GetMatrix(y.Rows, y.Cols), 0.0
	defer eng.PutMatrix(centered)
	centered.CopyFrom(y)
	Center(centered)
	for i := range y.Rows {
		for _, v := range centered.Row(i) {
			sum += v * v
		}
	}
	return sum / float64(y.Rows)
}

// Center subtracts the mean of the rows from each row and returns the mean.
func Center(x blas.Matrix) []float64 {
	mean := Mean(x)
	for i := range x.Rows {
		row := x.Row(i)
		for j, m := range mean {
			row[j] -= m
		}
	}
	return mean
}

// Eigen returns the eigenvectors, as rows, and the ascending eigenvalues of X'X/n if features is
// true, else of XX'/n. A matrix that overflows is a *fault.DataError.
func Eigen(ctx context.Context, eng *engine.Engine, x blas.Matrix, features bool,
	n int) (blas.Matrix, []float64, error) {
	order := x.Rows
	if features {
		order = x.Cols
	}
	c, w := blas.NewMatrix(order, order), make([]float64, order)
	eng.Backend().Syrk(features, 1/float64(n), x, 0, c)
	if err := CheckCovariance(c); err != nil {
		return c, w, err
	}
	return c, w, eng.SymEig(ctx, c, w, true)
}

// CheckCovariance returns a *fault.DataError for a covariance matrix that overflowed.
func CheckCovariance(c blas.Matrix) error {
	for i := range c.Rows {
		if v := c.At(i, i); v-v != 0 {
			return fault.Data("",
				"the covariance of the points overflows: want smaller values (standardize the data)")
		}
	}
	return nil
}

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
func Whiten(ctx context.Context, eng *engine.Engine, c blas.Matrix, relative,
	tol float64) (blas.Matrix, error) {
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
