package native

import (
	"math"

	"github.com/mustlink/mustlink/blas"
)

// factorOrder is the order of the triangles that are factored directly.
const factorOrder = 16

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

// factorDirect is factor for a small matrix, row by row.
func (b *backend) factorDirect(a blas.Matrix) int {
	for i := range a.Rows {
		row := a.Row(i)
		for j := range i {
			row[j] = (row[j] - b.t.Dot(a.Row(j)[:j], row)) / a.At(j, j)
		}
		pivot := row[i] - b.t.Dot(row[:i], row)
		if !(pivot > 0) { // NaN too
			return i
		}
		row[i] = math.Sqrt(pivot)
	}
	return -1
}
