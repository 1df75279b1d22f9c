package native

import (
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/tile"
)

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
