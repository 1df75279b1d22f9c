package blastest

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/mustlink/mustlink/blas"
)

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
			within(t, x.At(shape(!left, i, r)), want[i], 4*float64(n+1)*eps*size[i], "n=%d,m=%d,left=%t,trans=%t: element %d of vector %d", n, m, left, trans, i, r)
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
				for name, op := range map[string]func(left, trans bool, l, b blas.Matrix){"Trsm": s.b.Trsm, "Trmm": s.b.Trmm} {
					x := s.random(shape(!left, n, m))
					p, q := shape(!left, at[0], at[1])
					x.Set(p, q, math.NaN())
					op(left, trans, l.Matrix, x.Matrix)
					onlyNaN(t, fmt.Sprintf("%s,left=%t,trans=%t, B[%d,%d]=NaN", name, left, trans, p, q), x, func(i, j int) bool {
						if !left {
							i, j = j, i
						}
						return j == at[1] && (i == at[0] || left != trans && i > at[0] || left == trans && i < at[0])
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
