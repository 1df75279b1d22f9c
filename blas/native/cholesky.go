package native

import (
	"math"

	"github.com/mustlink/mustlink/blas"
)

// factorBlock is the order of the diagonal blocks that are factored directly: large enough
// that the updates of the rest run at the speed of the product.
const factorBlock = 128

// Cholesky is right-looking: factor a diagonal block, solve for the panel below it, take
// the panel's outer product from the rest of the triangle.
func (b *backend) Cholesky(a blas.Matrix) error {
	n := blas.CheckSquare(a)
	for j0 := 0; j0 < n; j0 += factorBlock {
		j1 := min(j0+factorBlock, n)
		diagonal := a.View(j0, j1, j0, j1)
		if pivot := b.factorDirect(diagonal); pivot >= 0 {
			return &blas.NotPositiveDefiniteError{Pivot: j0 + pivot}
		}
		panel := a.View(j1, n, j0, j1)
		b.Trsm(false, true, diagonal, panel)
		b.Syrk(false, -1, panel, 1, a.View(j1, n, j1, n))
	}
	return nil
}

// factorDirect overwrites the lower triangle of a small matrix with its Cholesky factor,
// row by row, and returns the index of the first pivot that is not positive, or -1.
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
