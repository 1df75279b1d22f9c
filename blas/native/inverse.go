package native

import (
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/form"
)

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
