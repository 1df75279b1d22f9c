package blastest

import (
	"fmt"
	"math"
	"testing"

	"github.com/mustlink/mustlink/blas"
)

// terms returns, for alpha op(A) op(B) + beta C at (i, j), the value by a plain loop and
// the sum of the absolute values of its terms, to which the error bounds are relative. Here and in
// apply the race detector does not watch: these loops would take most of its time, and the tests
// read all that a backend has written elsewhere, looking for guards that it has overwritten.
//
//go:norace
func terms(transA, transB bool, alpha float64, a, b blas.Matrix, beta float64, c blas.Matrix, i, j,
	k int) (value, size float64) {
	p, stepA, q, stepB := i*a.Stride, 1, j, b.Stride
	if transA {
		p, stepA = i, a.Stride
	}
	if transB {
		q, stepB = j*b.Stride, 1
	}
	x, y := a.Data, b.Data
	for range k {
		v := x[p] * y[q]
		value += v
		size += math.Abs(v)
		p, q = p+stepA, q+stepB
	}
	value *= alpha
	size *= math.Abs(alpha)
	if beta != 0 {
		value += beta * c.At(i, j)
		size += math.Abs(beta * c.At(i, j))
	}
	return value, size
}

// within fails the test unless |got - want| <= bound; a NaN fails. The message is formatted only on
// failure, because most comparisons succeed.
func within(t *testing.T, got, want, bound float64, what string, args ...any) {
	if !(math.Abs(got-want) <= bound) {
		t.Helper()
		t.Fatalf("%s is %v: want %v within %.3g", fmt.Sprintf(what, args...), got, want, bound)
	}
}

// output returns a random matrix for C, or one of guards when beta is 0 and C must not be
// read.
func (s *suite) output(rows, cols int, beta float64, lower bool) *guarded {
	c := s.empty(rows, cols)
	switch {
	case beta == 0:
	case lower:
		c.fillLower(s.normal)
	default:
		c.fill(s.normal)
	}
	return c
}

func shape(trans bool, rows, cols int) (int, int) {
	if trans {
		return cols, rows
	}
	return rows, cols
}

func testGemm(t *testing.T, s *suite) {
	sizes := [][3]int{{2, 3, 255}, {3, 2, 256}, {5, 4, 257}, {4, 9, 600}, {1, 300, 70}, {300, 1, 70}}
	for _, e := range edges {
		sizes = append(sizes, [3]int{e, e, e}, [3]int{e, s.size(), s.size()}, [3]int{s.size(), s.size(), e})
	}
	for _, size := range sizes {
		for _, transA := range []bool{false, true} {
			for _, transB := range []bool{false, true} {
				s.gemm(t, transA, transB, size[0], size[1], size[2])
			}
		}
	}
}

func (s *suite) gemm(t *testing.T, transA, transB bool, m, n, k int) {
	alpha, beta := s.factor(), s.factor()
	a := s.random(shape(transA, m, k)).freeze()
	b := s.random(shape(transB, k, n)).freeze()
	c := s.output(m, n, beta, false)
	start := c.Clone()
	s.b.Gemm(transA, transB, alpha, a.Matrix, b.Matrix, beta, c.Matrix)
	a.untouched(t, "A")
	b.untouched(t, "B")
	c.fenced(t, "C", false)
	for i := range m {
		for j := range n {
			want, size := terms(transA, transB, alpha, a.Matrix, b.Matrix, beta, start, i, j, k)
			if diff := math.Abs(c.At(i, j) - want); !(diff <= 4*float64(k+1)*eps*size) {
				t.Fatalf("m=%d,n=%d,k=%d,transA=%t,transB=%t,alpha=%v,beta=%v: C[%d,%d] is %v: want %v",
					m, n, k, transA, transB, alpha, beta, i, j, c.At(i, j), want)
			}
		}
	}
}

// testGemmLarge uses sizes for several blocks and threads. Instead of the plain product it compares
// C t with A (B t) for a random vector t.
func testGemmLarge(t *testing.T, s *suite) {
	const m, n, k = 210, 301, 530
	for _, transA := range []bool{false, true} {
		for _, transB := range []bool{false, true} {
			a, b, c := s.random(shape(transA, m, k)), s.random(shape(transB, k, n)), s.empty(m, n)
			s.b.Gemm(transA, transB, 1, a.Matrix, b.Matrix, 0, c.Matrix)
			c.fenced(t, "C", false)
			x := s.vector(n)
			bx, absBx := apply(transB, b.Matrix, x)
			abx, _ := apply(transA, a.Matrix, bx)
			_, size := apply(transA, a.Matrix, absBx)
			cx, _ := apply(false, c.Matrix, x)
			for i := range m {
				within(t, cx[i], abx[i], 4*(n+k)*eps*size[i], "transA=%t,transB=%t: row %d of C t", transA,
					transB, i)
			}
		}
	}
}

// apply returns op(A) x and |op(A)| |x| by plain loops.
//
//go:norace
func apply(trans bool, a blas.Matrix, x []float64) (y, abs []float64) {
	rows, _ := shape(trans, a.Rows, a.Cols)
	y, abs = make([]float64, rows), make([]float64, rows)
	for i := range a.Rows {
		row := a.Row(i)
		if trans {
			for j, v := range row {
				term := v * x[i]
				y[j] += term
				abs[j] += math.Abs(term)
			}
			continue
		}
		for j, v := range row {
			term := v * x[j]
			y[i] += term
			abs[i] += math.Abs(term)
		}
	}
	return y, abs
}

// testGemmRows checks that the bits of a row of C do not depend on the other rows in the call. The
// contract does not require this of netlib.
func testGemmRows(t *testing.T, s *suite) {
	if s.b.Name() == "netlib" {
		t.Skip("not promised by netlib")
	}
	const m, n = 261, 67
	for _, k := range []int{1, 63, 64, 65, 129, 300} {
		for _, transB := range []bool{false, true} {
			a, b := s.random(m, k), s.random(shape(transB, k, n))
			whole := s.empty(m, n)
			s.b.Gemm(false, transB, 0.7, a.Matrix, b.Matrix, 0, whole.Matrix)
			for _, rows := range [][2]int{{0, 1}, {63, 64}, {64, 65}, {100, 103}, {1, 130}, {128, 261}} {
				lo, hi := rows[0], rows[1]
				part := s.empty(hi-lo, n)
				s.b.Gemm(false, transB, 0.7, a.View(lo, hi, 0, k), b.Matrix, 0, part.Matrix)
				for i := lo; i < hi; i++ {
					sameBits(t, fmt.Sprintf("k=%d,transB=%t: row %d in a call of rows %d to %d", k, transB, i,
						lo, hi), part.Row(i-lo), whole.Row(i))
				}
			}
		}
	}
}

// sameBits fails the test unless got and want are equal bit by bit.
func sameBits(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("%s: element %d is %v, was %v: want the same bits", what, i, got[i], want[i])
		}
	}
}

func testSyrk(t *testing.T, s *suite) {
	sizes := [][2]int{{3, 600}, {300, 4}, {257, 257}}
	for _, e := range edges {
		sizes = append(sizes, [2]int{e, e}, [2]int{e, s.size()}, [2]int{s.size(), e})
	}
	for _, size := range sizes {
		for _, trans := range []bool{false, true} {
			n, k := size[0], size[1]
			alpha, beta := s.factor(), s.factor()
			a := s.random(shape(trans, n, k)).freeze()
			c := s.output(n, n, beta, true)
			start := c.Clone()
			s.b.Syrk(trans, alpha, a.Matrix, beta, c.Matrix)
			a.untouched(t, "A")
			c.fenced(t, "C", true)
			for i := range n {
				for j := range i + 1 {
					want, size := terms(trans, !trans, alpha, a.Matrix, a.Matrix, beta, start, i, j, k)
					within(t, c.At(i, j), want, 4*float64(k+1)*eps*size,
						"n=%d,k=%d,trans=%t,alpha=%v,beta=%v: C[%d,%d]", n, k, trans, alpha, beta, i, j)
				}
			}
		}
	}
}

func testSymm(t *testing.T, s *suite) {
	sizes := [][2]int{{3, 200}, {200, 4}, {257, 40}}
	for _, e := range edges {
		sizes = append(sizes, [2]int{e, e}, [2]int{e, s.size()}, [2]int{s.size(), e})
	}
	for _, size := range sizes {
		for _, left := range []bool{false, true} {
			order, other := size[0], size[1]
			m, n := shape(!left, order, other)
			alpha, beta := s.factor(), s.factor()
			a := s.empty(order, order).fillLower(s.normal).freeze()
			b := s.random(m, n).freeze()
			c := s.output(m, n, beta, false)
			start := c.Clone()
			s.b.Symm(left, alpha, a.Matrix, b.Matrix, beta, c.Matrix)
			a.untouched(t, "A")
			b.untouched(t, "B")
			c.fenced(t, "C", false)
			x, y := mirror(a.Matrix), b.Matrix
			if !left {
				x, y = y, x
			}
			for i := range m {
				for j := range n {
					want, size := terms(false, false, alpha, x, y, beta, start, i, j, order)
					within(t, c.At(i, j), want, 4*float64(order+1)*eps*size,
						"m=%d,n=%d,left=%t,alpha=%v,beta=%v: C[%d,%d]", m, n, left, alpha, beta, i, j)
				}
			}
		}
	}
}

func testSyr(t *testing.T, s *suite) {
	for _, n := range append(edges, 600) {
		alpha, x := s.factor(), s.vector(n)
		a := s.empty(n, n).fillLower(s.normal)
		start := a.Clone()
		s.b.Syr(alpha, x, a.Matrix)
		a.fenced(t, "A", true)
		for i := range n {
			for j := range i + 1 {
				term := alpha * x[i] * x[j]
				within(t, a.At(i, j), start.At(i, j)+term, 4*eps*(math.Abs(term)+math.Abs(start.At(i, j))),
					"n=%d,alpha=%v: A[%d,%d]", n, alpha, i, j)
			}
		}
	}
}

func testGemv(t *testing.T, s *suite) {
	sizes := [][2]int{{600, 700}}
	for _, e := range edges {
		sizes = append(sizes, [2]int{e, e}, [2]int{e, s.size()}, [2]int{s.size(), e})
	}
	for _, size := range sizes {
		for _, trans := range []bool{false, true} {
			m, n := size[0], size[1]
			alpha, beta := s.factor(), s.factor()
			a := s.random(shape(trans, m, n)).freeze()
			x := s.vector(n)
			s.times(t, fmt.Sprintf("m=%d,n=%d,trans=%t", m, n, trans), alpha, beta, m, n,
				func(y []float64) { s.b.Gemv(trans, alpha, a.Matrix, x, beta, y) },
				func() ([]float64, []float64) { return apply(trans, a.Matrix, x) })
			a.untouched(t, "A")
		}
	}
}

func testSymv(t *testing.T, s *suite) {
	for _, n := range append(edges, 600) {
		alpha, beta := s.factor(), s.factor()
		a := s.empty(n, n).fillLower(s.normal).freeze()
		x := s.vector(n)
		s.times(t, fmt.Sprintf("n=%d", n), alpha, beta, n, n,
			func(y []float64) { s.b.Symv(alpha, a.Matrix, x, beta, y) },
			func() ([]float64, []float64) { return apply(false, mirror(a.Matrix), x) })
		a.untouched(t, "A")
	}
}

// times checks a matrix-vector operation y = alpha A x + beta y, A of shape m x n, against
// A x and |A| |x|. y lies between guards, and is one of them when beta is 0.
func (s *suite) times(t *testing.T, what string, alpha, beta float64, m, n int, run func(y []float64),
	plain func() (ax, abs []float64)) {
	t.Helper()
	g := s.output(1, m, beta, false)
	start := append([]float64(nil), g.Row(0)...)
	run(g.Row(0))
	g.fenced(t, "y", false)
	ax, abs := plain()
	for i := range m {
		want, size := alpha*ax[i], math.Abs(alpha)*abs[i]
		if beta != 0 {
			want += beta * start[i]
			size += math.Abs(beta * start[i])
		}
		within(t, g.At(0, i), want, 4*float64(n+1)*eps*size, "%s,alpha=%v,beta=%v: y[%d]", what, alpha, beta,
			i)
	}
}

// mirror returns the full symmetric matrix of a lower triangle.
func mirror(a blas.Matrix) blas.Matrix {
	full := blas.NewMatrix(a.Rows, a.Cols)
	for i := range a.Rows {
		for j := range i + 1 {
			full.Set(i, j, a.At(i, j))
			full.Set(j, i, a.At(i, j))
		}
	}
	return full
}
