package native

import (
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/form"
	"github.com/mustlink/mustlink/blas/tile"
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

// Triangles up to these orders are processed directly; the rest uses products.
const (
	leafOrder  = 64  // that are factored or inverted
	applyOrder = 256 // that are applied: in panels that stay packed, which saves products with few terms
)

func (b *backend) Trsm(left, trans bool, l, x blas.Matrix) {
	blas.CheckTrsm(left, l, x)
	b.shareOut(operation{solve: true, left: left, trans: trans, l: l, x: x})
}

func (b *backend) Trmm(left, trans bool, l, x blas.Matrix) {
	blas.CheckTrsm(left, l, x)
	b.shareOut(operation{left: left, trans: trans, l: l, x: x})
}

// operation is X = op(L) X or X op(L), or with the inverse of L if solve is set.
type operation struct {
	solve, left, trans bool
	l, x               blas.Matrix
}

// leastLanes is the number of vectors for each worker from which each worker processes vectors of
// its own, instead of sharing every product.
const leastLanes = 128

// shareOut runs the operation with all workers.
func (b *backend) shareOut(o operation) {
	n, lanes := o.l.Rows, o.lanes()
	workers := b.nest.WorkersFor(float64(n) * float64(n) * float64(lanes))
	share := blocks(blocks(lanes, workers), b.t.NR) * b.t.NR
	if workers == 1 || share < leastLanes {
		b.triangular(b.nest, &o)
		return
	}
	b.shareLanes(o, share)
}

// shareLanes is shareOut for a large operation, with share vectors in each task.
func (b *backend) shareLanes(o operation, share int) {
	n, lanes := o.l.Rows, o.lanes()
	b.nest.Each(math.Inf(1), blocks(lanes, share), func(i int) {
		p, lo, hi := o, i*share, min((i+1)*share, lanes)
		if o.left {
			p.x = o.x.View(0, n, lo, hi)
		} else {
			p.x = o.x.View(lo, hi, 0, n)
		}
		b.triangular(b.alone, &p)
	})
}

// lanes returns the number of vectors that L acts on.
func (o *operation) lanes() int {
	if o.left {
		return o.x.Cols
	}
	return o.x.Rows
}

// forward reports whether the first elements of X affect the later ones, as in L X, or the reverse,
// as in L'X.
func (o *operation) forward() bool { return o.left != o.trans }

// part returns the operation of the diagonal block [lo, hi) of L.
func (o *operation) part(lo, hi int) operation {
	p := *o
	p.l, p.x = o.l.View(lo, hi, lo, hi), o.slice(lo, hi)
	return p
}

// slice returns the rows or columns [lo, hi) of X that such a block affects.
func (o *operation) slice(lo, hi int) blas.Matrix {
	if o.left {
		return o.x.View(lo, hi, 0, o.x.Cols)
	}
	return o.x.View(0, o.x.Rows, lo, hi)
}

// triangular halves L until its triangles are leaves. The products in between contain nearly all
// flops.
func (b *backend) triangular(nest *tile.Nest, o *operation) {
	n := o.l.Rows
	if o.x.Rows == 0 || o.x.Cols == 0 {
		return
	}
	if n <= applyOrder {
		b.applyLeaf(nest, o)
		return
	}
	mid := half(n, applyOrder)
	from, to := o.part(0, mid), o.part(mid, n)
	if !o.forward() {
		from, to = to, from
	}
	if o.solve {
		b.triangular(nest, &from)
		b.couple(nest, -1, o, mid, from.x, to.x)
		b.triangular(nest, &to)
	} else {
		b.triangular(nest, &to)
		b.couple(nest, 1, o, mid, from.x, to.x)
		b.triangular(nest, &from)
	}
}

// half returns where to cut a triangle of order n > unit: at a multiple of unit.
func half(n, unit int) int { return (blocks(n, unit) + 1) / 2 * unit }

// couple adds alpha times the product of from and the part of L below the diagonal blocks,
// which meet at mid, to the other part of X.
func (b *backend) couple(nest *tile.Nest, alpha float64, o *operation, mid int, from, to blas.Matrix) {
	l := tile.Operand{Matrix: o.l.View(mid, o.l.Rows, 0, mid), Trans: o.trans}
	p := tile.Product{Alpha: alpha, A: l, B: tile.Operand{Matrix: from}, Beta: 1, C: to}
	if !o.left {
		p.A, p.B = p.B, p.A
	}
	nest.Multiply(p)
}
