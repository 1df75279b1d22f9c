package native

import (
	"math"

	"github.com/mustlink/mustlink/blas"
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

// factorDirect is factor for a small matrix, column by column: each one is taken from those behind it.
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
