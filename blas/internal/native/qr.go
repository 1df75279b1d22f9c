package native

import (
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/form"
)

// reflectors is the number of Householder reflections that form one block reflection I - V T V'
// (Schreiber & Van Loan's compact WY form). singly is the number from which the vectors of a block
// are computed by halves.
const (
	reflectors = 64
	singly     = 8
)

// QR works on A', whose rows are the contiguous columns of A: the rows of a panel become the
// vectors of its reflections, and nearly every other step is a product.
func (b *backend) QR(a, l blas.Matrix) {
	m, n := blas.CheckQR(a, l)
	if !form.Finite(a) {
		form.FillNaN(a, l)
		return
	}
	v, t, tau := blas.NewMatrix(n, m), blas.NewMatrix(n, reflectors), make([]float64, n)
	a.TransposeTo(v)
	for j0 := 0; j0 < n; j0 += reflectors {
		j1 := min(j0+reflectors, n)
		factor := t.View(j0, j1, 0, j1-j0)
		b.panel(v.View(j0, j1, 0, m), l.View(j0, j1, 0, n), factor, tau[j0:j1], j0)
		b.reflectRows(v.View(j1, n, j0, m), v.View(j0, j1, j0, m), factor, false)
	}
	b.assemble(v, t, a)
	form.PositiveDiagonal(a, l)
}

// panel makes the rows of a panel of A' triangular by reflections; the diagonal element of the
// first row is in column j0. It copies the triangular part to the rows of l and leaves the vectors
// of the reflections, with their zeros and ones, in the panel, and T' in t.
func (b *backend) panel(panel, l, t blas.Matrix, tau []float64, j0 int) {
	rows, m := panel.Rows, panel.Cols
	if rows <= singly {
		b.reflect(panel, l, tau, j0)
	} else {
		mid := rows / 2
		b.panel(panel.View(0, mid, 0, m), l.View(0, mid, 0, l.Cols), t.View(0, mid, 0, mid), tau[:mid], j0)
		b.reflectRows(panel.View(mid, rows, j0, m), panel.View(0, mid, j0, m), t.View(0, mid, 0, mid), false)
		b.panel(panel.View(mid, rows, 0, m), l.View(mid, rows, 0, l.Cols), t.View(mid, rows, mid, rows),
			tau[mid:], j0+mid)
	}
	b.blockFactor(panel.View(0, rows, j0, m), tau, t)
}

// reflectRows multiplies the rows by I - V T V', V' the panel, or by its transpose.
func (b *backend) reflectRows(rows, panel, t blas.Matrix, trans bool) {
	s := b.newScratch()
	defer s.free()
	w := s.matrix(rows.Rows, panel.Rows)
	b.Gemm(false, true, 1, rows, panel, 0, w)
	b.Trmm(false, !trans, t, w)
	b.Gemm(false, false, -1, w, panel, 1, rows)
}

// reflect is panel for few rows, one reflection at a time, without T'.
func (b *backend) reflect(panel, l blas.Matrix, tau []float64, j0 int) {
	for i := range panel.Rows {
		row := panel.Row(i)
		j := j0 + i
		x := row[j:]
		var diagonal float64
		diagonal, tau[i] = b.householder(x)
		copy(l.Row(i), row[:j])
		l.Set(i, j, diagonal)
		clear(row[:j])
		for c := i + 1; c < panel.Rows; c++ {
			other := panel.Row(c)[j:]
			b.t.Axpy(-tau[i]*b.t.Dot(x, other), x, other)
		}
	}
}

// householder overwrites x with the vector v, v[0] = 1, of the reflection I - tau v v' that
// takes x to (diagonal, 0, ..., 0).
func (b *backend) householder(x []float64) (diagonal, tau float64) {
	first, tail := x[0], x[1:]
	x[0] = 1
	norm := b.norm(tail)
	if norm == 0 {
		return first, 0
	}
	diagonal = -math.Copysign(math.Hypot(first, norm), first)
	if up := 0x1p600; math.Abs(diagonal) < 0x1p-900 { // near subnormal numbers, where a norm has few digits
		x[0] = first * up
		b.t.Scale(up, tail)
		diagonal, tau = b.householder(x)
		return diagonal / up, tau
	}
	b.t.Scale(1/(first-diagonal), tail)
	return diagonal, (diagonal - first) / diagonal
}

// norm returns the Euclidean norm of x, even if squares of its elements are outside the range of
// float64.
func (b *backend) norm(x []float64) float64 {
	if s := b.t.Dot(x, x); s > 0x1p-900 && s < 0x1p1000 || s == 0 && form.Zero(x) {
		return math.Sqrt(s)
	}
	var norm float64
	for _, v := range x {
		norm = math.Hypot(norm, v)
	}
	return norm
}

// blockFactor fills the lower triangle of t with T', such that the product of the reflections
// H_0 H_1 ... is I - V T V', V' the panel: row i of T' is tau_i (e_i - sum_k (v_i'v_k) row k).
func (b *backend) blockFactor(panel blas.Matrix, tau []float64, t blas.Matrix) {
	s := b.newScratch()
	defer s.free()
	gram := s.matrix(panel.Rows, panel.Rows)
	b.Syrk(false, 1, panel, 0, gram)
	for i, scale := range tau {
		row := t.Row(i)[:i+1]
		clear(row)
		for k := range i {
			b.t.Axpy(-scale*gram.At(i, k), t.Row(k)[:k+1], row)
		}
		row[i] = scale
	}
}

// assemble overwrites q with the first columns of the product of all block reflections, by
// applying them to those of the identity, the last one first.
func (b *backend) assemble(v, t, q blas.Matrix) {
	m, n := q.Rows, q.Cols
	for i := range m {
		clear(q.Row(i))
		if i < n {
			q.Set(i, i, 1)
		}
	}
	for p := blocks(n, reflectors) - 1; p >= 0; p-- {
		j0 := p * reflectors
		j1 := min(j0+reflectors, n)
		panel, part := v.View(j0, j1, j0, m), q.View(j0, m, j0, n)
		w := blas.NewMatrix(j1-j0, n-j0)
		b.Gemm(false, false, 1, panel, part, 0, w)
		b.Trmm(true, true, t.View(j0, j1, 0, j1-j0), w)
		b.Gemm(true, false, -1, panel, w, 1, part)
	}
}
