package native

import (
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/form"
)

// These are the rows and columns of one task of a matrix-vector operation.
const (
	vectorRows = 64
	vectorCols = 1024
)

// vectorFlops is the work from which such an operation, which is limited by memory, is distributed
// to the workers.
const vectorFlops = 250e3

// shared reports whether an operation of the given flops is distributed to the workers. Other
// operations allocate nothing; a function that is passed to a goroutine would be allocated.
func (b *backend) shared(flops float64) bool { return b.nest.Workers() > 1 && flops >= vectorFlops }

func (b *backend) Gemv(trans bool, alpha float64, a blas.Matrix, x []float64, beta float64, y []float64) {
	blas.CheckGemv(trans, a, x, y)
	form.Vector(beta, y)
	if len(x) == 0 || len(y) == 0 || alpha == 0 {
		return
	}
	switch shared := b.shared(2 * float64(len(x)) * float64(len(y))); {
	case !trans && shared:
		b.nest.EachBlock(len(y), vectorRows, func(lo, hi int) { b.gemvRows(alpha, a, x, y, lo, hi) })
	case !trans:
		b.gemvRows(alpha, a, x, y, 0, len(y))
	case shared:
		b.nest.EachBlock(len(y), vectorCols, func(lo, hi int) { b.gemvCols(alpha, a, x, y, lo, hi) })
	default:
		b.gemvCols(alpha, a, x, y, 0, len(y))
	}
}

// gemvRows adds alpha A x to elements [lo, hi) of y.
func (b *backend) gemvRows(alpha float64, a blas.Matrix, x, y []float64, lo, hi int) {
	for i := lo; i < hi; i++ {
		y[i] += float64(alpha * b.t.Dot(a.Row(i), x))
	}
}

// gemvCols adds alpha A'x to elements [lo, hi) of y.
func (b *backend) gemvCols(alpha float64, a blas.Matrix, x, y []float64, lo, hi int) {
	for i, v := range x {
		b.t.Axpy(alpha*v, a.Row(i)[lo:hi], y[lo:hi])
	}
}

func (b *backend) Symv(alpha float64, a blas.Matrix, x []float64, beta float64, y []float64) {
	blas.CheckSymv(a, x, y)
	form.Vector(beta, y)
	if alpha == 0 {
		return
	}
	if len(x) >= symvOrder {
		b.symvParts(alpha, a, x, y)
		return
	}
	// Each row of the triangle is read once and used twice, as a row and as a column: four at a
	// time, and then their part of the diagonal.
	const rows = 4
	i := 0
	memory := b.nest.Borrow(2 * rows)
	defer b.nest.Return(memory)
	multiples, dots := (*[rows]float64)((*memory)[:rows]), (*[rows]float64)((*memory)[rows:])
	for ; i+rows <= len(x); i += rows {
		for r := range rows {
			multiples[r] = alpha * x[i+r]
		}
		b.t.Sweep(i, a.Data[i*a.Stride:], a.Stride, x, y, multiples, dots)
		for r := range rows {
			y[i+r] += float64(alpha * dots[r])
			symvRow(alpha, a.Row(i + r)[i:i+r+1], x[i:], y[i:])
		}
	}
	for ; i < len(x); i++ {
		symvRow(alpha, a.Row(i)[:i+1], x, y)
	}
}

// symvParts adds alpha A x to y for a large matrix: the sums of parts of its rows, in their order.
func (b *backend) symvParts(alpha float64, a blas.Matrix, x, y []float64) {
	const slower = 8 // than a product of matrices, because memory limits it
	n := len(x)
	sums := b.nest.Borrow(symvTasks * n)
	defer b.nest.Return(sums)
	s := &symv{t: b.t, a: a, x: x, sums: *sums}
	b.nest.Each(slower*2*float64(n)*float64(n), symvTasks, s.part)
	s.add(alpha, y)
}

// symvRow is Symv for the last row of a triangle.
func symvRow(alpha float64, row, x, y []float64) {
	i := len(row) - 1
	sum, v := 0.0, alpha*x[i]
	for j, e := range row[:i] {
		sum += float64(e * x[j])
		y[j] += float64(v * e)
	}
	y[i] += float64(alpha * (sum + float64(row[i]*x[i])))
}

func (b *backend) Syr(alpha float64, x []float64, a blas.Matrix) {
	n := blas.CheckSyr(x, a)
	if alpha == 0 {
		return
	}
	if b.shared(float64(n) * float64(n)) {
		b.nest.EachBlock(n, vectorRows, func(lo, hi int) { b.syrRows(alpha, x, a, lo, hi) })
		return
	}
	b.syrRows(alpha, x, a, 0, n)
}

// syrRows is Syr for rows [lo, hi).
func (b *backend) syrRows(alpha float64, x []float64, a blas.Matrix, lo, hi int) {
	for i := lo; i < hi; i++ {
		b.t.Axpy(alpha*x[i], x[:i+1], a.Row(i))
	}
}
