package native

import (
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/form"
)

// factorOrder is the order of the triangles that are factored directly.
const factorOrder = 32

func (b *backend) Cholesky(a blas.Matrix) error {
	blas.CheckSquare(a)
	if pivot := b.factor(a); pivot >= 0 {
		return &blas.NotPositiveDefiniteError{Pivot: pivot}
	}
	return nil
}

// factor overwrites the lower triangle of a with its Cholesky factor and returns the index
// of the first pivot that is not positive, or -1. It halves the matrix: factor one half,
// solve for the rows below it, take their outer product from the other half and factor that.
func (b *backend) factor(a blas.Matrix) int {
	n := a.Rows
	if n <= factorOrder {
		return b.factorDirect(a)
	}
	mid := half(n, max(factorOrder, min(leafOrder, n/4)))
	top, below, rest := a.View(0, mid, 0, mid), a.View(mid, n, 0, mid), a.View(mid, n, mid, n)
	if pivot := b.factor(top); pivot >= 0 {
		return pivot
	}
	b.Trsm(false, true, top, below)
	b.Syrk(false, -1, below, 1, rest)
	if pivot := b.factor(rest); pivot >= 0 {
		return mid + pivot
	}
	return -1
}

// factorDirect is factor for a small matrix, column by column: each column is subtracted from those
// after it.
func (b *backend) factorDirect(a blas.Matrix) int {
	n := a.Rows
	scratch := b.nest.Borrow(n)
	defer b.nest.Return(scratch)
	column := *scratch
	for j := range n {
		pivot := a.At(j, j)
		if !(pivot > 0) { // NaN too
			return j
		}
		pivot = math.Sqrt(pivot)
		a.Set(j, j, pivot)
		below, at := column[:n-j-1], (j+1)*a.Stride+j
		for i := range below {
			below[i] = a.Data[at] / pivot
			a.Data[at] = below[i]
			at += a.Stride
		}
		if len(below) > 0 {
			b.t.Syr(-1, below, a.Data[(j+1)*a.Stride+j+1:], a.Stride)
		}
	}
	return -1
}

func (b *backend) TriangularInverse(l blas.Matrix) error {
	blas.CheckSquare(l)
	if i := form.ZeroDiagonal(l); i >= 0 {
		return &blas.SingularError{Index: i}
	}
	b.invert(l)
	return nil
}

// invert halves the triangle: with X11 = L11^-1, the block below it is -L22^-1 (L21 X11).
// Multiplying by X11 and solving with L22, in this order, keeps the residual of L X = I small
// element by element.
func (b *backend) invert(l blas.Matrix) {
	n := l.Rows
	if n <= leafOrder {
		b.invertDirect(l)
		return
	}
	mid := half(n, leafOrder)
	top, below, rest := l.View(0, mid, 0, mid), l.View(mid, n, 0, mid), l.View(mid, n, mid, n)
	b.invert(top)
	b.Trmm(false, false, top, below)
	b.Trsm(true, false, rest, below)
	form.Scale(-1, below)
	b.invert(rest)
}

// invertDirect is invert for a small triangle: row i of the inverse is
// (e_i - sum_k L[i,k] row k) / L[i,i].
func (b *backend) invertDirect(l blas.Matrix) {
	scratch := b.nest.Borrow(l.Rows)
	factors := *scratch
	for i := range l.Rows {
		row := l.Row(i)[:i+1]
		copy(factors, row)
		clear(row)
		for k := range i {
			b.t.Axpy(-factors[k], l.Row(k)[:k+1], row)
		}
		pivot := factors[i]
		for j := range i {
			row[j] /= pivot
		}
		row[i] = 1 / pivot
	}
	b.nest.Return(scratch)
}
