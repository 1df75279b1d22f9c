package blastest

import (
	"fmt"
	"math"
	"strings"
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
			onlyNaN(t, fmt.Sprintf("Syrk, A[%d,%d]=NaN", i, l), c, func(r, j int) bool {
				return j > r || r == i || j == i
			})
		}
	}
	a, b := s.random(m, k), s.random(k, n)
	want, got := blas.NewMatrix(m, n), blas.NewMatrix(m, n)
	s.b.Gemm(false, false, -2, a.Matrix, b.Matrix, 0, want)
	a.Set(0, 0, math.NaN())
	s.b.Gemm(false, false, -2, a.Matrix, b.Matrix, 0, got)
	for r := 1; r < m; r++ {
		for j, v := range got.Row(r) {
			if off := math.Abs(v - want.At(r, j)); !(off <= k*0x1p-52*10*k) {
				t.Fatalf("Gemm with a NaN in row 0 of A: element (%d,%d) is %v: want %v", r, j, v, want.At(r, j))
			}
		}
	}
	const order, i, j = 67, 65, 3
	a = s.empty(order, order).fillLower(s.normal)
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

// testPanics checks that shapes that do not agree panic with a constant message of package blas.
func testPanics(t *testing.T, s *suite) {
	mat := blas.NewMatrix
	vec := func(n int) []float64 { return make([]float64, n) }
	short := blas.MatrixOf(3, 3, vec(8))
	narrow := blas.Matrix{Rows: 3, Cols: 3, Stride: 2, Data: vec(9)}
	negative := blas.Matrix{Rows: -1, Cols: 3, Stride: 3}
	b := s.b
	for name, f := range map[string]func(){
		"Gemm/inner":         func() { b.Gemm(false, false, 1, mat(2, 3), mat(4, 5), 0, mat(2, 5)) },
		"Gemm/innerTrans":    func() { b.Gemm(true, true, 1, mat(3, 2), mat(4, 5), 0, mat(2, 4)) },
		"Gemm/rows":          func() { b.Gemm(false, false, 1, mat(2, 3), mat(3, 5), 0, mat(3, 5)) },
		"Gemm/columns":       func() { b.Gemm(false, true, 1, mat(2, 3), mat(5, 3), 0, mat(2, 3)) },
		"Gemm/alphaZero":     func() { b.Gemm(false, false, 0, mat(2, 3), mat(4, 5), 1, mat(2, 5)) },
		"Gemm/short":         func() { b.Gemm(false, false, 1, short, mat(3, 3), 0, mat(3, 3)) },
		"Gemm/stride":        func() { b.Gemm(false, false, 1, mat(3, 3), narrow, 0, mat(3, 3)) },
		"Gemm/negative":      func() { b.Gemm(false, false, 1, negative, mat(3, 3), 0, mat(0, 3)) },
		"Syrk/square":        func() { b.Syrk(false, 1, mat(3, 2), 0, mat(3, 4)) },
		"Syrk/order":         func() { b.Syrk(true, 1, mat(3, 2), 0, mat(3, 3)) },
		"Syr/length":         func() { b.Syr(1, vec(2), mat(3, 3)) },
		"Syr/square":         func() { b.Syr(1, vec(3), mat(3, 4)) },
		"Gemv/x":             func() { b.Gemv(false, 1, mat(2, 3), vec(2), 0, vec(2)) },
		"Gemv/y":             func() { b.Gemv(true, 1, mat(2, 3), vec(2), 0, vec(2)) },
		"Symv/x":             func() { b.Symv(1, mat(3, 3), vec(2), 0, vec(3)) },
		"Symv/y":             func() { b.Symv(1, mat(3, 3), vec(3), 0, vec(4)) },
		"Trsm/left":          func() { b.Trsm(true, false, mat(3, 3), mat(2, 3)) },
		"Trsm/right":         func() { b.Trsm(false, false, mat(3, 3), mat(3, 2)) },
		"Trsm/square":        func() { b.Trsm(true, false, mat(3, 2), mat(3, 3)) },
		"Trsm/short":         func() { b.Trsm(true, false, short, mat(3, 2)) },
		"Symm/left":          func() { b.Symm(true, 1, mat(3, 3), mat(2, 3), 0, mat(2, 3)) },
		"Symm/right":         func() { b.Symm(false, 1, mat(3, 3), mat(3, 2), 0, mat(3, 2)) },
		"Symm/square":        func() { b.Symm(true, 1, mat(3, 2), mat(3, 2), 0, mat(3, 2)) },
		"Symm/output":        func() { b.Symm(true, 0, mat(3, 3), mat(3, 2), 1, mat(3, 3)) },
		"Trmm/left":          func() { b.Trmm(true, false, mat(3, 3), mat(2, 3)) },
		"Trmm/right":         func() { b.Trmm(false, false, mat(3, 3), mat(3, 2)) },
		"Trmm/square":        func() { b.Trmm(true, false, mat(3, 2), mat(3, 3)) },
		"Inverse/square":     func() { _ = b.TriangularInverse(mat(3, 2)) },
		"Inverse/short":      func() { _ = b.TriangularInverse(short) },
		"QR/wide":            func() { b.QR(mat(2, 3), mat(3, 3)) },
		"QR/order":           func() { b.QR(mat(4, 3), mat(4, 4)) },
		"QR/square":          func() { b.QR(mat(4, 3), mat(3, 4)) },
		"Cholesky/square":    func() { _ = b.Cholesky(mat(3, 2)) },
		"Cholesky/short":     func() { _ = b.Cholesky(short) },
		"SymEig/square":      func() { _ = b.SymEig(mat(3, 2), vec(3), true) },
		"SymEig/length":      func() { _ = b.SymEig(mat(3, 3), vec(2), true) },
		"SymEigTop/k":        func() { _ = b.SymEigTop(mat(3, 3), vec(2), mat(3, 3)) },
		"SymEigTop/columns":  func() { _ = b.SymEigTop(mat(3, 3), vec(2), mat(2, 2)) },
		"SymEigTop/too many": func() { _ = b.SymEigTop(mat(3, 3), vec(4), mat(4, 3)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if msg, ok := recover().(string); !ok || !strings.HasPrefix(msg, "blas: ") {
					t.Errorf("panic is %q: want a constant message of package blas", msg)
				}
			}()
			f()
		})
	}
}
