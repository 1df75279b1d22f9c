// Package form has the operations on matrices that every backend needs before and after its
// products and factorizations: scaling by beta, finiteness, transposition.
package form

import (
	"math"
	"slices"

	ref "gonum.org/v1/gonum/blas"

	"github.com/mustlink/mustlink/blas"
)

// Side returns the BLAS constant for the side of a triangular or symmetric factor.
func Side(left bool) ref.Side {
	if left {
		return ref.Left
	}
	return ref.Right
}

// Trans returns the BLAS constant for a factor or its transpose.
func Trans(t bool) ref.Transpose {
	if t {
		return ref.Trans
	}
	return ref.NoTrans
}

// Scale computes C = beta C. With beta == 0, C is not read.
func Scale(beta float64, c blas.Matrix) {
	if beta == 1 {
		return
	}
	for i := range c.Rows {
		Vector(beta, c.Row(i))
	}
}

// ScaleLower computes the lower triangle of C = beta C. With beta == 0, C is not read.
func ScaleLower(beta float64, c blas.Matrix) {
	if beta == 1 {
		return
	}
	for i := range c.Rows {
		Vector(beta, c.Row(i)[:i+1])
	}
}

// Vector computes x = beta x. With beta == 0, x is not read.
func Vector(beta float64, x []float64) {
	switch beta {
	case 0:
		clear(x)
	case 1:
	default:
		for i := range x {
			x[i] *= beta
		}
	}
}

// Finite reports whether all of m is finite.
func Finite(m blas.Matrix) bool {
	for i := range m.Rows {
		if !FiniteVector(m.Row(i)) {
			return false
		}
	}
	return true
}

// FiniteLower reports whether the lower triangle of the square matrix m is finite.
func FiniteLower(m blas.Matrix) bool {
	for i := range m.Rows {
		if !FiniteVector(m.Row(i)[:i+1]) {
			return false
		}
	}
	return true
}

// FiniteVector reports whether all of x is finite.
func FiniteVector(x []float64) bool {
	// v - v is 0 for finite v and NaN for the others, and NaN survives the sum: one
	// comparison at the end instead of one an element.
	var s float64
	for _, v := range x {
		s += v - v
	}
	return s == 0
}

// Transpose transposes the square matrix m in place, in blocks that stay in cache.
func Transpose(m blas.Matrix) {
	const nb = 32
	for ib := 0; ib < m.Rows; ib += nb {
		for jb := 0; jb <= ib; jb += nb {
			for i := ib; i < min(ib+nb, m.Rows); i++ {
				for j := jb; j < min(jb+nb, i); j++ {
					p, q := i*m.Stride+j, j*m.Stride+i
					m.Data[p], m.Data[q] = m.Data[q], m.Data[p]
				}
			}
		}
	}
}

// Mirror returns the full symmetric matrix of a lower triangle.
func Mirror(a blas.Matrix) blas.Matrix {
	full := a.Clone()
	full.Mirror()
	return full
}

// LowerFromUpper copies the transpose of the upper triangle of the first rows of a to the
// lower triangle of l.
func LowerFromUpper(l, a blas.Matrix) {
	for i := range l.Rows {
		row := l.Row(i)[:i+1]
		for j := range row {
			row[j] = a.At(j, i)
		}
	}
}

// FillNaN fills q and the lower triangle l with NaN, the QR decomposition of a matrix that
// is not finite.
func FillNaN(q, l blas.Matrix) {
	fill := func(x []float64) {
		for i := range x {
			x[i] = math.NaN()
		}
	}
	for i := range q.Rows {
		fill(q.Row(i))
	}
	for i := range l.Rows {
		fill(l.Row(i)[:i+1])
	}
}

// Zero reports whether all elements of x are 0.
func Zero(x []float64) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}

// ZeroDiagonal returns the index of the first diagonal element of a that is 0, or -1.
func ZeroDiagonal(a blas.Matrix) int {
	for i := range a.Rows {
		if a.At(i, i) == 0 {
			return i
		}
	}
	return -1
}

// PositiveDiagonal changes the signs of columns of q and l so that the product q l' stays
// the same and no element of the diagonal of the lower triangle l is negative.
func PositiveDiagonal(q, l blas.Matrix) {
	signs := make([]float64, l.Rows)
	change := false
	for i := range signs {
		signs[i] = 1
		if math.Signbit(l.At(i, i)) {
			signs[i], change = -1, true
		}
	}
	if !change {
		return
	}
	flip := func(row []float64) {
		for j := range row {
			row[j] *= signs[j]
		}
	}
	for i := range q.Rows {
		flip(q.Row(i))
	}
	for i := range l.Rows {
		flip(l.Row(i)[:i+1])
	}
}

// TopRows copies the last len(w) of the ascending eigenvalues all and of the rows of
// vectors to w and v, in descending order.
func TopRows(all []float64, vectors blas.Matrix, w []float64, v blas.Matrix) {
	for i := range w {
		from := len(all) - 1 - i
		w[i] = all[from]
		copy(v.Row(i), vectors.Row(from))
	}
}

// FailedPivot returns the index of the first diagonal element that is not positive, or
// -1. After a Cholesky factorization that stopped, it is the failing pivot: all before it
// are square roots of positive numbers, and the pivot itself is stored unrooted.
func FailedPivot(a blas.Matrix) int {
	for i := range a.Rows {
		if !(a.At(i, i) > 0) {
			return i
		}
	}
	return -1
}

// ReverseRows reverses the order of the rows of v, and of w along with it.
func ReverseRows(w []float64, v blas.Matrix) {
	slices.Reverse(w)
	for i, j := 0, v.Rows-1; i < j; i, j = i+1, j-1 {
		x, y := v.Row(i), v.Row(j)
		for l := range x {
			x[l], y[l] = y[l], x[l]
		}
	}
}

// Normalize multiplies the lower triangle by 2^-exponent, exactly, so that the squares of
// its elements neither overflow nor vanish. The exponent is 0 for ordinary matrices.
func Normalize(a blas.Matrix) (exponent int) {
	largest := 0.0
	for i := range a.Rows {
		largest = max(largest, blas.MaxAbs(a.Row(i)[:i+1]))
	}
	if largest == 0 || largest > 0x1p-100 && largest < 0x1p100 {
		return 0
	}
	_, exponent = math.Frexp(largest)
	for i := range a.Rows {
		row := a.Row(i)[:i+1]
		for j, v := range row {
			row[j] = math.Ldexp(v, -exponent)
		}
	}
	return exponent
}

// Split clears the elements of the subdiagonal e of a normalized tridiagonal matrix that are
// negligible relative to the largest element of its diagonal d and of e. A block that is tiny as a
// whole is then split into its elements: gonum's Dsteqr, which would scale the block, returns
// eigenvalues for it that are hundreds of orders of magnitude too large (v0.17.0).
func Split(d, e []float64) {
	largest := max(blas.MaxAbs(d), blas.MaxAbs(e))
	const nothing = 0x1p-300
	for i, v := range e {
		if math.Abs(v) < nothing*largest {
			e[i] = 0
		}
	}
}
