package blastest

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/internal/racetest"
)

// triangle returns a random lower triangle with a diagonal in [1, 2). Elements below the diagonal
// have size spread.
func (s *suite) triangle(n int, spread float64) *guarded {
	return s.empty(n, n).fillLower(func(i, j int) float64 {
		if i == j {
			return 1 + s.rng.Float64()
		}
		return spread * s.rng.NormFloat64()
	})
}

func testTrsm(t *testing.T, s *suite) {
	sizes := [][2]int{{257, 40}, {40, 257}, {200, 1}, {1, 200}}
	for _, e := range edges {
		sizes = append(sizes, [2]int{e, e}, [2]int{e, s.size()}, [2]int{s.size(), e})
	}
	for _, size := range sizes {
		n, m := size[0], size[1]
		// Small elements keep L well conditioned; large ones let X grow.
		l := s.triangle(n, []float64{0.3, 1 / math.Sqrt(float64(n+1))}[s.rng.IntN(2)]).freeze()
		for _, left := range []bool{true, false} {
			for _, trans := range []bool{false, true} {
				s.trsm(t, left, trans, l, m)
			}
		}
		l.untouched(t, "L")
	}
}

func (s *suite) trsm(t *testing.T, left, trans bool, l *guarded, m int) {
	n := l.Rows
	x := s.random(shape(!left, n, m))
	b := x.Clone()
	s.b.Trsm(left, trans, l.Matrix, x.Matrix)
	x.fenced(t, "B", false)
	// The residual of each right-hand side, by columns of op(L) X or rows of X op(L).
	lower := lowerOf(l.Matrix)
	for r := range m {
		rhs, sol := make([]float64, n), make([]float64, n)
		for i := range n {
			p, q := shape(!left, i, r)
			rhs[i], sol[i] = b.At(p, q), x.At(p, q)
		}
		lx, size := apply(trans == left, lower, sol)
		for i := range n {
			within(t, lx[i], rhs[i], 4*float64(n+1)*eps*size[i],
				"n=%d,m=%d,left=%t,trans=%t: element %d of right-hand side %d", n, m, left, trans, i, r)
		}
	}
}

// spd returns a well-conditioned symmetric positive definite lower triangle, M M'/n + I.
func (s *suite) spd(n int) *guarded {
	m := s.random(n, n)
	return s.empty(n, n).fillLower(func(i, j int) float64 {
		v, _ := terms(false, true, 1/float64(n), m.Matrix, m.Matrix, 0, m.Matrix, i, j, n)
		if i == j {
			v++
		}
		return v
	})
}

func testCholesky(t *testing.T, s *suite) {
	for _, n := range append(edges, 260) {
		a := s.spd(n)
		s.factored(t, fmt.Sprintf("n=%d", n), a)
		// Neither squares nor sums may leave the range of float64.
		for _, p := range []int{-600, 600} {
			scaled := s.empty(n, n).fillLower(func(i, j int) float64 { return math.Ldexp(a.At(i, j), p) })
			s.factored(t, fmt.Sprintf("n=%d,scale=2^%d", n, p), scaled)
		}
	}
}

// factored checks the factor of a by the residual |A - L L'|.
func (s *suite) factored(t *testing.T, what string, a *guarded) {
	t.Helper()
	n := a.Rows
	l := s.empty(n, n).fillLower(a.At)
	if err := s.b.Cholesky(l.Matrix); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	l.fenced(t, "A", true)
	for i := range n {
		if !(l.At(i, i) > 0) {
			t.Fatalf("%s: L[%d,%d] is %v: want a number > 0", what, i, i, l.At(i, i))
		}
		for j := range i + 1 {
			got, _ := terms(false, true, 1, l.Matrix, l.Matrix, 0, l.Matrix, i, j, j+1)
			bound := 30 * float64(n) * eps * math.Sqrt(a.At(i, i)) * math.Sqrt(a.At(j, j))
			within(t, got, a.At(i, j), bound, "%s: (L L')[%d,%d]", what, i, j)
		}
	}
}

// pivotOf returns the failing pivot, -1 for success.
func (s *suite) pivotOf(t *testing.T, a *guarded) int {
	t.Helper()
	err := s.b.Cholesky(a.Matrix)
	a.fenced(t, "A", true)
	if err == nil {
		return -1
	}
	var npd *blas.NotPositiveDefiniteError
	if !errors.As(err, &npd) {
		t.Fatalf("error is %T (%v): want *blas.NotPositiveDefiniteError", err, err)
	}
	return npd.Pivot
}

// ldl returns the lower triangle of L D L'.
func (s *suite) ldl(l *guarded, d []float64) *guarded {
	return s.empty(l.Rows, l.Rows).fillLower(func(i, j int) (v float64) {
		x, y := l.Row(i), l.Row(j)
		for k, scale := range d[:j+1] {
			v += x[k] * scale * y[k]
		}
		return v
	})
}

// testCholeskyIndefinite checks that A = L D L', with D = I except for one -1, fails at that pivot,
// which is -L[p,p]^2 and so far from 0.
func testCholeskyIndefinite(t *testing.T, s *suite) {
	for _, n := range racetest.Some([]int{1, 2, 3, 33, 65, 129, 200, 300}, []int{1, 3, 65, 200}) {
		for _, p := range []int{0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 128, n - 1} {
			if p >= n {
				continue
			}
			d := make([]float64, n)
			for i := range d {
				d[i] = 1
			}
			d[p] = -1
			if p+5 < n {
				d[p+5] = -1 // only the first counts
			}
			if got := s.pivotOf(t, s.ldl(s.triangle(n, 1/math.Sqrt(float64(n))), d)); got != p {
				t.Errorf("n=%d: failing pivot is %d: want %d", n, got, p)
			}
		}
	}
}

// testCholeskySingular uses small integers, which make every sum exact in any order, so a zero in D
// is a pivot of exactly 0.
func testCholeskySingular(t *testing.T, s *suite) {
	for _, n := range []int{1, 2, 3, 64, 129, 200} {
		for _, p := range []int{0, 1, 63, 64, 127, 128, n - 1} {
			if p >= n {
				continue
			}
			l := s.empty(n, n).fillLower(func(i, j int) float64 {
				if i == j {
					return 1
				}
				return float64(s.rng.IntN(3) - 1)
			})
			d := make([]float64, n)
			for i := range d {
				d[i] = 1
			}
			d[p] = 0
			if got := s.pivotOf(t, s.ldl(l, d)); got != p {
				t.Errorf("n=%d: failing pivot is %d: want %d", n, got, p)
			}
		}
	}
	if got := s.pivotOf(t, s.empty(40, 40).fillLower(func(int, int) float64 { return 0 })); got != 0 {
		t.Errorf("zero matrix: failing pivot is %d: want 0", got)
	}
}

// testCholeskyRankDeficient checks that a random Gram matrix of rank r fails at a pivot not before
// r, or, if rounding makes its zeros positive, succeeds with a small residual.
func testCholeskyRankDeficient(t *testing.T, s *suite) {
	for _, size := range [][2]int{{5, 2}, {65, 20}, {130, 64}, {130, 100}} {
		n, r := size[0], size[1]
		m := s.random(n, r)
		gram := func(i, j int) float64 {
			v, _ := terms(false, true, 1, m.Matrix, m.Matrix, 0, m.Matrix, i, j, r)
			return v
		}
		p := s.pivotOf(t, s.empty(n, n).fillLower(gram))
		if p >= 0 && p < r {
			t.Errorf("n=%d, rank %d: failing pivot is %d: want %d or later", n, r, p, r)
		}
		if p < 0 {
			s.factored(t, fmt.Sprintf("n=%d, rank %d", n, r), s.empty(n, n).fillLower(gram))
		}
	}
}

// testCholeskyNaN checks that the pivot of the row with the NaN is the first to be NaN.
func testCholeskyNaN(t *testing.T, s *suite) {
	for _, n := range []int{1, 3, 65, 200} {
		base := s.spd(n)
		for _, at := range [][2]int{{0, 0}, {1, 0}, {2, 1}, {64, 0}, {64, 63}, {130, 5}, {n - 1, n - 1},
			{n - 1, 0}} {
			i, j := at[0], at[1]
			if i >= n {
				continue
			}
			a := s.empty(n, n).fillLower(base.At)
			a.Set(i, j, math.NaN())
			if got := s.pivotOf(t, a); got != i {
				t.Errorf("n=%d, NaN at (%d,%d): failing pivot is %d: want %d", n, i, j, got, i)
			}
			if i == j {
				continue
			}
			a = s.empty(n, n).fillLower(base.At)
			a.Set(i, j, math.Inf(1)) // L[i,j] = Inf, pivot i = -Inf
			if got := s.pivotOf(t, a); got != i {
				t.Errorf("n=%d, Inf at (%d,%d): failing pivot is %d: want %d", n, i, j, got, i)
			}
		}
	}
}

func testTrmm(t *testing.T, s *suite) {
	sizes := [][2]int{{257, 40}, {40, 257}, {200, 1}, {1, 200}}
	for _, e := range edges {
		sizes = append(sizes, [2]int{e, e}, [2]int{e, s.size()}, [2]int{s.size(), e})
	}
	for _, size := range sizes {
		n, m := size[0], size[1]
		l := s.empty(n, n).fillLower(s.normal).freeze()
		for _, left := range []bool{true, false} {
			for _, trans := range []bool{false, true} {
				s.trmm(t, left, trans, l, m)
			}
		}
		l.untouched(t, "L")
	}
}

func (s *suite) trmm(t *testing.T, left, trans bool, l *guarded, m int) {
	n := l.Rows
	x := s.random(shape(!left, n, m))
	b := x.Clone()
	s.b.Trmm(left, trans, l.Matrix, x.Matrix)
	x.fenced(t, "B", false)
	lower := lowerOf(l.Matrix)
	for r := range m {
		in := make([]float64, n)
		for i := range n {
			in[i] = b.At(shape(!left, i, r))
		}
		want, size := apply(trans == left, lower, in)
		for i := range n {
			within(t, x.At(shape(!left, i, r)), want[i], 4*float64(n+1)*eps*size[i],
				"n=%d,m=%d,left=%t,trans=%t: element %d of vector %d", n, m, left, trans, i, r)
		}
	}
}

// lowerOf returns a copy of the lower triangle with zeros above it.
func lowerOf(l blas.Matrix) blas.Matrix {
	lower := l.Clone()
	lower.ClearUpper()
	return lower
}

// testTriangleNaN checks that a NaN in an element of B reaches only the elements that depend on it,
// and in Trsm the element itself. The contract does not require this of netlib.
func testTriangleNaN(t *testing.T, s *suite) {
	if s.b.Name() == "netlib" {
		t.Skip("not promised by netlib")
	}
	const n, m = 70, 30
	l := s.triangle(n, 0.1)
	for _, at := range [][2]int{{0, 0}, {35, 29}, {69, 3}, {63, 24}} {
		for _, left := range []bool{true, false} {
			for _, trans := range []bool{false, true} {
				for name, op := range map[string]func(left, trans bool, l, b blas.Matrix){"Trsm": s.b.Trsm,
					"Trmm": s.b.Trmm} {
					x := s.random(shape(!left, n, m))
					p, q := shape(!left, at[0], at[1])
					x.Set(p, q, math.NaN())
					op(left, trans, l.Matrix, x.Matrix)
					onlyNaN(t, fmt.Sprintf("%s,left=%t,trans=%t, B[%d,%d]=NaN", name, left, trans, p, q), x,
						func(i, j int) bool {
							if !left {
								i, j = j, i
							}
							return j == at[1] &&
								(i == at[0] || left != trans && i > at[0] || left == trans && i < at[0])
						})
				}
			}
		}
	}
}

// testTriangularInverse checks the residual of L X = I, element by element.
func testTriangularInverse(t *testing.T, s *suite) {
	for _, n := range append(edges, 260) {
		l := s.triangle(n, 1/math.Sqrt(float64(n+1)))
		x := s.empty(n, n).fillLower(l.At)
		if err := s.b.TriangularInverse(x.Matrix); err != nil {
			t.Fatalf("n=%d: %v", n, err)
		}
		x.fenced(t, "L", true)
		a, b := lowerOf(l.Matrix), lowerOf(x.Matrix)
		for i := range n {
			for j := range i + 1 {
				want := 0.0
				if i == j {
					want = 1
				}
				// LAPACK bounds one of L X - I and X L - I; for the well-conditioned L here the
				// other is not much larger.
				got, size := terms(false, false, 1, a, b, 0, a, i, j, n)
				within(t, got, want, 10*float64(n+1)*eps*(size+1), "n=%d: (L X)[%d,%d]", n, i, j)
			}
		}
	}
}

// testTriangularSingular checks that a zero on the diagonal is reported, and that nothing is
// written.
func testTriangularSingular(t *testing.T, s *suite) {
	for _, n := range []int{1, 2, 65, 130} {
		for _, p := range []int{0, n / 2, n - 1} {
			l := s.triangle(n, 0.1)
			l.Set(p, p, 0)
			l.Set(n-1, n-1, 0) // only the first counts
			l.freeze()
			var singular *blas.SingularError
			if err := s.b.TriangularInverse(l.Matrix); !errors.As(err, &singular) || singular.Index != p {
				t.Errorf("n=%d, zero at %d: error is %v: want *blas.SingularError with this index", n, p, err)
			}
			l.untouched(t, "L")
		}
	}
}
