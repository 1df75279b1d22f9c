package blastest

import (
	"fmt"
	"math"
	"testing"

	"github.com/mustlink/mustlink/blas"
)

// testNaN checks that a NaN or Inf in a factor reaches every element that depends on it, even if
// the other factor is 0, and no other element.
func testNaN(t *testing.T, s *suite) {
	const m, n, k = 70, 66, 65
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		for _, at := range [][2]int{{0, 0}, {31, 64}, {64, 33}} {
			i, l := at[0], at[1]
			a, b, c := s.random(m, k), s.random(k, n), s.empty(m, n)
			a.Set(i, l, bad)
			clear(b.Row(l)) // bad * 0
			s.b.Gemm(false, false, 1, a.Matrix, b.Matrix, 0, c.Matrix)
			onlyNaN(t, fmt.Sprintf("Gemm, A[%d,%d]=%v", i, l, bad), c, func(r, _ int) bool { return r == i })

			zero := s.empty(n, k).fill(func(_, j int) float64 { return float64(j % 3 * (j - l)) })
			c = s.empty(n, m)
			s.b.Gemm(false, true, 1, zero.Matrix, a.Matrix, 0, c.Matrix) // 0 * bad
			onlyNaN(t, fmt.Sprintf("Gemm, B'[%d,%d]=%v", i, l, bad), c, func(_, j int) bool { return j == i })

			for r := range m {
				if r != i {
					a.Set(r, l, 0)
				}
			}
			a.Set(i, l, math.NaN())
			c = s.empty(m, m)
			s.b.Syrk(false, 1, a.Matrix, 0, c.Matrix)
			onlyNaN(t, fmt.Sprintf("Syrk, A[%d,%d]=NaN", i, l), c, func(r, j int) bool { return j > r || r == i || j == i })
		}
	}
	const order, i, j = 67, 65, 3
	a := s.empty(order, order).fillLower(s.normal)
	a.Set(i, j, math.NaN())
	c := s.empty(order, n)
	s.b.Symm(true, 1, a.Matrix, blas.NewMatrix(order, n), 0, c.Matrix) // NaN * 0
	onlyNaN(t, "Symm, left", c, func(r, _ int) bool { return r == i || r == j })
	c = s.empty(n, order)
	s.b.Symm(false, 1, a.Matrix, blas.NewMatrix(n, order), 0, c.Matrix)
	onlyNaN(t, "Symm, right", c, func(_, r int) bool { return r == i || r == j })
	s.vectorNaN(t)
}

// vectorNaN checks the same for the matrix-vector products, with a zero vector.
func (s *suite) vectorNaN(t *testing.T) {
	const n, i, j = 67, 65, 3
	a, x := s.random(n, n), make([]float64, n)
	a.Set(i, j, math.NaN())
	y := s.empty(1, n)
	s.b.Gemv(false, 1, a.Matrix, x, 0, y.Row(0))
	onlyNaN(t, "Gemv", y, func(_, c int) bool { return c == i })
	y = s.empty(1, n)
	s.b.Gemv(true, 1, a.Matrix, x, 0, y.Row(0))
	onlyNaN(t, "Gemv, transposed", y, func(_, c int) bool { return c == j })
	y = s.empty(1, n)
	s.b.Symv(1, a.Matrix, x, 0, y.Row(0))
	onlyNaN(t, "Symv", y, func(_, c int) bool { return c == i || c == j })
}

// onlyNaN fails the test unless exactly the elements named are NaN.
func onlyNaN(t *testing.T, what string, c *guarded, want func(i, j int) bool) {
	t.Helper()
	for i := range c.Rows {
		for j := range c.Cols {
			if math.IsNaN(c.At(i, j)) != want(i, j) {
				t.Fatalf("%s: element (%d,%d) is %v: want NaN %t", what, i, j, c.At(i, j), want(i, j))
			}
		}
	}
}

// testAlphaZero checks that with alpha = 0 the factors are not read, for any beta.
func testAlphaZero(t *testing.T, s *suite) {
	const n = 34
	for _, beta := range []float64{0, 1, 0.5} {
		nan := s.empty(n, n) // all NaN
		half := func(c *guarded, start float64) {
			t.Helper()
			for i := range c.Rows {
				for j := range min(i, c.Cols-1) + 1 {
					within(t, c.At(i, j), beta*start, 0, "beta=%v: element (%d,%d)", beta, i, j)
				}
			}
		}
		two := func() *guarded {
			c := s.output(n, n, beta, false)
			if beta != 0 {
				c.fill(func(int, int) float64 { return 2 })
			}
			return c
		}
		c := two()
		s.b.Gemm(s.coin(), s.coin(), 0, nan.Matrix, nan.Matrix, beta, c.Matrix)
		half(c, 2)
		c = two()
		s.b.Syrk(s.coin(), 0, nan.Matrix, beta, c.Matrix)
		half(c, 2)
		c = two()
		s.b.Symm(s.coin(), 0, nan.Matrix, nan.Matrix, beta, c.Matrix)
		half(c, 2)
		c = two()
		s.b.Gemv(s.coin(), 0, nan.Matrix, nan.Row(0), beta, c.Row(0))
		half(&guarded{Matrix: c.View(0, 1, 0, n)}, 2)
		c = two()
		s.b.Symv(0, nan.Matrix, nan.Row(0), beta, c.Row(0))
		half(&guarded{Matrix: c.View(0, 1, 0, n)}, 2)
	}
	c := s.random(n, n).freeze()
	s.b.Syr(0, s.empty(1, n).Row(0), c.Matrix)
	c.untouched(t, "A of Syr")
}
