// Package operator (internal: may change) has symmetric matrices that are defined by their
// products: dense ones, sparse ones, and kernel matrices that are never stored; and what needs such
// products alone: a few eigenpairs, solutions of systems of equations, and factors of low rank.
package operator

import (
	"context"
	"math"
	"strconv"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/sparse"
)

// Operator is a real symmetric matrix A. Its methods do not change it and are safe for concurrent
// use.
type Operator interface {
	// Order returns the number n of rows and columns.
	Order() int
	// Multiply writes A X to y; x and y are n x b, b >= 1, and do not overlap. Column j of y
	// depends only on column j of x, but its bits may depend on b. If the context is done, Multiply
	// returns its error and leaves y undefined.
	Multiply(ctx context.Context, eng *engine.Engine, y, x blas.Matrix) error
	// Width returns the number of columns, at least 1, that take little longer than one.
	Width() int
	// Cost returns the multiply-adds of a product with one vector, divided by n.
	Cost() float64
}

// taskWork is the number of multiply-adds with a sparse matrix, which wait for memory, in a task:
// some times the cost of waking a worker.
const taskWork = 1 << 16

// task returns the number of rows of a task, for n rows with the given multiply-adds in total.
func task(n, work int) int { return max(1, n/max(1, work/taskWork)) }

type dense struct{ a blas.Matrix }

// denseWidth: products with a dense matrix are limited by memory up to some eight columns.
const denseWidth = 8

// Dense returns the operator of a matrix with both triangles, without copying it. Errors: a
// *fault.ShapeError for a matrix that is not square; a *fault.DataError for the first element that
// is not finite, and for the largest difference from the transpose if it is more than rounding (n
// eps |a_ij|_max).
func Dense(a blas.Matrix) (Operator, error) {
	if a.Rows != a.Cols {
		return nil, fault.Shape("columns of the matrix", a.Cols, "%d, as it has rows", a.Rows)
	}
	largest := 0.0
	for i := range a.Rows {
		for j, v := range a.Row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, notFinite(i, j, v)
			}
			largest = max(largest, math.Abs(v))
		}
	}
	worst, at := 0.0, [2]int{}
	const tile = 32 // rows and columns that fit the cache
	for i0 := 0; i0 < a.Rows; i0 += tile {
		for j0 := 0; j0 <= i0; j0 += tile {
			for i := i0; i < min(i0+tile, a.Rows); i++ {
				for j := j0; j < min(j0+tile, i); j++ {
					if d := math.Abs(a.At(i, j) - a.At(j, i)); d > worst {
						worst, at = d, [2]int{i, j}
					}
				}
			}
		}
	}
	if worst > float64(a.Rows)*0x1p-52*largest {
		return nil, notSymmetric(at[0], at[1], a.At(at[0], at[1]), a.At(at[1], at[0]))
	}
	return dense{a}, nil
}

func notFinite(i, j int, v float64) error {
	return fault.Cell(i, strconv.Itoa(j), "%v: want a finite number", v)
}

func notSymmetric(i, j int, v, turned float64) error {
	return fault.Cell(i, strconv.Itoa(j),
		"%v, but %v in the other triangle, the largest difference: want a symmetric matrix", v, turned)
}

func (d dense) Order() int { return d.a.Rows }
func (d dense) Width() int { return denseWidth }

func (d dense) Cost() float64 { return float64(d.a.Rows) }

func (d dense) Multiply(ctx context.Context, eng *engine.Engine, y, x blas.Matrix) error {
	eng.Backend().Gemm(false, false, 1, d.a, x, 0, y)
	return ctx.Err()
}

type inverse struct{ l blas.Matrix }

// inverseWidth: triangular solves need more columns than products to run at full speed.
const inverseWidth = 16

// Inverse returns the operator of (L L')^-1 for a Cholesky factor L: lower triangular, non-unit.
func Inverse(l blas.Matrix) Operator { return inverse{l} }

func (v inverse) Order() int { return v.l.Rows }
func (v inverse) Width() int { return inverseWidth }

// Cost counts a step of a solve like four of a product: it waits for those before it.
func (v inverse) Cost() float64 { return 4 * float64(v.l.Rows) }

func (v inverse) Multiply(ctx context.Context, eng *engine.Engine, y, x blas.Matrix) error {
	y.CopyFrom(x)
	eng.Backend().Trsm(true, false, v.l, y)
	eng.Backend().Trsm(true, true, v.l, y)
	return ctx.Err()
}

type sparseMatrix struct{ m *sparse.Matrix }

// Sparse returns the operator of a sparse matrix. Errors are those of [Dense].
func Sparse(m *sparse.Matrix) (Operator, error) {
	if m.Rows != m.Cols {
		return nil, fault.Shape("columns of the matrix", m.Cols, "%d, as it has rows", m.Rows)
	}
	largest, worst, place := 0.0, 0.0, [2]int{}
	err := m.Across(func(i, j int, v, turned float64) error {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return notFinite(i, j, v)
		}
		largest = max(largest, math.Abs(v))
		if d := math.Abs(v - turned); d > worst {
			worst, place = d, [2]int{i, j}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if worst > float64(m.Rows)*0x1p-52*largest {
		return nil, notSymmetric(place[0], place[1], m.At(place[0], place[1]), m.At(place[1], place[0]))
	}
	return sparseMatrix{m}, nil
}

func (s sparseMatrix) Order() int { return s.m.Rows }

// Width is a cache line: neighbors are scattered in memory, and a whole line is read for each.
func (s sparseMatrix) Width() int { return 8 }

func (s sparseMatrix) Cost() float64 { return float64(s.m.Count()) / float64(max(1, s.m.Rows)) }

func (s sparseMatrix) Multiply(ctx context.Context, eng *engine.Engine, y, x blas.Matrix) error {
	t := eng.Backend().Kernels()
	return eng.For(ctx, s.m.Rows, task(s.m.Rows, s.m.Count()*x.Cols), func(lo, hi int) error {
		t.SparseRows(s.m.Start[lo:hi+1], s.m.Col, s.m.Val, x.Data, x.Stride, x.Cols, y.Data[lo*y.Stride:],
			y.Stride)
		return nil
	})
}

// Recur overwrites y with alpha A x + beta x + gamma y, a step of a recurrence. The matrices are n
// x b and compact, and do not overlap; with gamma = 0, y is not read. Cost: one product with A and
// n b flops; scratch memory n b for operators that are not sparse. Errors are those of the operator
// and ctx.Err(); y is then partly written.
func Recur(ctx context.Context, eng *engine.Engine, a Operator, alpha float64, x blas.Matrix, beta,
	gamma float64, y blas.Matrix) error {
	t, b := eng.Backend().Kernels(), x.Cols
	s, isSparse := a.(sparseMatrix)
	image := y
	if !isSparse && gamma != 0 {
		image = eng.GetMatrix(x.Rows, b)
		defer eng.PutMatrix(image)
	}
	if !isSparse {
		if err := a.Multiply(ctx, eng, image, x); err != nil {
			return err
		}
	}
	work := 2 * len(x.Data)
	if isSparse {
		work += s.m.Count() * b
	}
	return eng.For(ctx, x.Rows, task(x.Rows, work), func(lo, hi int) error {
		to, own := y.Data[lo*b:hi*b], x.Data[lo*b:hi*b]
		switch {
		case isSparse:
			if gamma == 0 {
				clear(to)
			}
			t.SparseRecur(s.m.Start[lo:hi+1], s.m.Col, s.m.Val, x.Data, b, b, alpha, beta, own, gamma, to, b)
		case gamma == 0:
			t.Scale(alpha, to)
			t.Axpy(beta, own, to)
		default:
			t.Scale(gamma, to)
			t.Axpy(alpha, image.Data[lo*b:hi*b], to)
			t.Axpy(beta, own, to)
		}
		return nil
	})
}
