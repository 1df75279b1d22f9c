package blastest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/internal/racetest"
)

// eigenSizes are the sizes around block edges, with fewer large ones, because their cost is cubic.
var eigenSizes = racetest.Some([]int{0, 1, 2, 3, 5, 31, 32, 33, 64, 65, 129}, []int{0, 1, 3, 33, 65})

// symmetric returns difficult symmetric matrices, each in its own way, as functions of (i, j), i >=
// j.
func (s *suite) symmetric(n int) map[string]func(i, j int) float64 {
	repeated := s.spectrum(n, func(i int) float64 { return float64(i % 3) })
	graded := s.spectrum(n, func(i int) float64 { return math.Pow(10, -float64(i)/8) })
	return map[string]func(i, j int) float64{
		"normal":   s.normal,
		"zero":     func(int, int) float64 { return 0 },
		"ones":     func(int, int) float64 { return 1 },
		"repeated": repeated.At,
		"graded":   graded.At,
		"huge":     func(i, j int) float64 { return 1e300 * s.normal(i, j) },
		"tiny":     func(i, j int) float64 { return 1e-300 * s.normal(i, j) },
		"identity": func(i, j int) float64 { return float64(1 - min(1, i-j)) },
		"diagonal": func(i, j int) float64 {
			if i != j {
				return 0
			}
			return float64((i*7)%5) - 2
		},
	}
}

// spectrum returns Q diag(w) Q' for a product Q of two random reflections.
func (s *suite) spectrum(n int, w func(i int) float64) blas.Matrix {
	a := blas.NewMatrix(n, n)
	for i := range n {
		a.Set(i, i, w(i))
	}
	for range 2 {
		u := s.vector(n)
		var uu float64
		for _, v := range u {
			uu += v * v
		}
		// (I - 2uu'/u'u) A (I - 2uu'/u'u), with p = A u
		p, _ := apply(false, a, u)
		var up float64
		for i, v := range u {
			up += v * p[i]
		}
		for i := range n {
			for j := range n {
				a.Set(i, j, a.At(i, j)-2*(u[i]*p[j]+p[i]*u[j])/uu+4*up*u[i]*u[j]/(uu*uu))
			}
		}
	}
	return a
}

func testSymEig(t *testing.T, s *suite) {
	for _, n := range eigenSizes {
		for name, f := range s.symmetric(n) {
			what := fmt.Sprintf("n=%d,%s", n, name)
			a := s.empty(n, n).fillLower(f)
			full := mirror(a.Matrix)
			v := s.empty(n, n).fillLower(a.At)
			w := s.nanVector(n)
			if err := s.b.SymEig(v.Matrix, w, true); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			v.fenced(t, "A", false)
			eigenpairs(t, what, full, w, v.Matrix)
			if !slices.IsSorted(w) {
				t.Errorf("%s: eigenvalues %v: want ascending order", what, w)
			}
			values := s.empty(n, n).fillLower(a.At)
			wOnly := s.nanVector(n)
			if err := s.b.SymEig(values.Matrix, wOnly, false); err != nil {
				t.Fatalf("%s, values only: %v", what, err)
			}
			values.fenced(t, "A", false)
			for i := range w {
				within(t, wOnly[i], w[i], tolerance(n)*norm(full), "%s: eigenvalue %d without vectors", what,
					i)
			}
		}
	}
}

func (s *suite) nanVector(n int) []float64 { return s.empty(1, n).Row(0) }

// tolerance is the bound on residuals relative to |A|, on orthogonality, and on
// eigenvalues: 10 n eps, with room for the smallest n.
func tolerance(n int) float64 { return 10 * float64(max(n, 8)) * eps }

// norm returns the largest absolute row sum, an upper bound of the spectral norm.
func norm(a blas.Matrix) float64 {
	var largest float64
	for i := range a.Rows {
		var sum float64
		for _, v := range a.Row(i) {
			sum += math.Abs(v)
		}
		largest = max(largest, sum)
	}
	return largest
}

// eigenpairs checks A v = w v and v v' = I for the rows of v.
func eigenpairs(t *testing.T, what string, a blas.Matrix, w []float64, v blas.Matrix) {
	t.Helper()
	n := a.Rows
	scale := norm(a)
	for r := range v.Rows {
		av, _ := apply(false, a, v.Row(r))
		for i := range n {
			within(t, av[i], w[r]*v.At(r, i), tolerance(n)*scale, "%s: A v_%d, element %d", what, r, i)
		}
		for q := range r + 1 {
			want := 0.0
			if q == r {
				want = 1
			}
			got, _ := terms(false, true, 1, v, v, 0, v, r, q, n)
			within(t, got, want, tolerance(n), "%s: v_%d'v_%d", what, r, q)
		}
	}
}

// testSymEigKnown uses the second-difference matrix, whose eigenvalues are 2 - 2 cos(k pi/(n+1)).
func testSymEigKnown(t *testing.T, s *suite) {
	for _, n := range append(slices.Clone(eigenSizes), 200) {
		a := s.empty(n, n).fillLower(func(i, j int) float64 {
			switch i - j {
			case 0:
				return 2
			case 1:
				return -1
			}
			return 0
		})
		for _, vectors := range []bool{false, true} {
			c, w := s.empty(n, n).fillLower(a.At), s.nanVector(n)
			if err := s.b.SymEig(c.Matrix, w, vectors); err != nil {
				t.Fatalf("n=%d: %v", n, err)
			}
			for k := range n {
				want := 4 * math.Pow(math.Sin(float64(k+1)*math.Pi/float64(2*(n+1))), 2)
				within(t, w[k], want, 4*tolerance(n), "n=%d,vectors=%t: eigenvalue %d", n, vectors, k)
			}
		}
	}
}

// testSymEigScaled checks matrices near the ends of the range of float64, where sums of elements
// overflow or elements have few bits left: 2^p A has 2^p times the eigenvalues of A.
func testSymEigScaled(t *testing.T, s *suite) {
	for _, n := range []int{1, 2, 33, 65} {
		for _, p := range []int{1018, -1050} {
			scaled := s.empty(n, n).fillLower(func(i, j int) float64 { return math.Ldexp(s.normal(i, j), p) })
			a := s.empty(n, n).fillLower(func(i, j int) float64 { return math.Ldexp(scaled.At(i, j), -p) })
			full := mirror(a.Matrix)
			bound := tolerance(n)*norm(full) + math.Ldexp(1, -1074-p) // the last bit of a result
			all := s.nanVector(n)
			if err := s.b.SymEig(a.Matrix, all, false); err != nil {
				t.Fatal(err)
			}
			w, v := s.nanVector(n), s.empty(n, n).fillLower(scaled.At)
			if err := s.b.SymEig(v.Matrix, w, true); err != nil {
				t.Fatal(err)
			}
			top, rows := s.nanVector(1), s.empty(1, n)
			if err := s.b.SymEigTop(scaled.Matrix, top, rows.Matrix); err != nil {
				t.Fatal(err)
			}
			for i := range w {
				w[i] = math.Ldexp(w[i], -p)
				within(t, w[i], all[i], bound, "n=%d,scale=2^%d: eigenvalue %d", n, p, i)
			}
			within(t, math.Ldexp(top[0], -p), all[n-1], bound, "n=%d,scale=2^%d: largest eigenvalue", n, p)
			if p > 0 {
				eigenpairs(t, fmt.Sprintf("n=%d,scale=2^%d", n, p), full, w, v.Matrix)
			}
		}
	}
}

// testSymEigGraded checks vv' for v whose elements decrease to zero: |v|^2 is the only eigenvalue
// that is not 0. It also checks two such matrices as diagonal blocks.
func testSymEigGraded(t *testing.T, s *suite) {
	for _, n := range []int{13, 21, 24, 40, 80} {
		for _, step := range []int{-10, -52, -104} {
			for _, size := range []int{0, -120, 120} {
				v := make([]float64, n)
				for i := range v {
					v[i] = math.Ldexp(1+s.normal(i, 0)/8, step*(i%(n*2/3+1))+size)
				}
				a := s.empty(n, n).fillLower(func(i, j int) float64 {
					if i > n/2 != (j > n/2) {
						return 0
					}
					return v[i] * v[j]
				})
				full := mirror(a.Matrix)
				bound := tolerance(n) * norm(full)
				want := make([]float64, n)
				for i, x := range v {
					want[n-1-b2i(i > n/2)] += x * x
				}
				slices.Sort(want)
				for _, vectors := range []bool{false, true} {
					c, w := s.empty(n, n).fillLower(a.At), s.nanVector(n)
					if err := s.b.SymEig(c.Matrix, w, vectors); err != nil {
						t.Fatal(err)
					}
					what := fmt.Sprintf("n=%d,step=2^%d,size=2^%d,vectors=%t", n, step, size, vectors)
					for k := range n {
						within(t, w[k], want[k], bound, "%s: eigenvalue %d", what, k)
					}
					if vectors {
						eigenpairs(t, what, full, w, c.Matrix)
					}
				}
			}
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func testSymEigTop(t *testing.T, s *suite) {
	for _, n := range []int{0, 1, 2, 3, 32, 65, 129} {
		for name, f := range s.symmetric(n) {
			if n > 100 && name != "normal" && name != "repeated" {
				continue // the others add no information at this size, and take most of the time
			}
			a := s.empty(n, n).fillLower(f)
			full := mirror(a.Matrix)
			all := s.nanVector(n)
			if err := s.b.SymEig(full.Clone(), all, true); err != nil {
				t.Fatal(err)
			}
			for _, k := range []int{0, 1, 2, n / 8, n / 2, n} {
				if k > n {
					continue
				}
				what := fmt.Sprintf("n=%d,%s,k=%d", n, name, k)
				w, v := s.nanVector(k), s.empty(k, n)
				if err := s.b.SymEigTop(s.empty(n, n).fillLower(a.At).Matrix, w, v.Matrix); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				v.fenced(t, "V", false)
				eigenpairs(t, what, full, w, v.Matrix)
				for i := range w {
					within(t, w[i], all[n-1-i], tolerance(n)*norm(full), "%s: eigenvalue %d", what, i)
					if i > 0 && !(w[i] <= w[i-1]) {
						t.Errorf("%s: eigenvalues %v: want descending order", what, w)
					}
				}
			}
		}
	}
}

// testSymEigNaN checks that NaN and Inf anywhere in the triangle give the typed error, without an
// endless loop.
func testSymEigNaN(t *testing.T, s *suite) {
	for _, n := range []int{1, 2, 3, 40, 129} {
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			for _, at := range [][2]int{{0, 0}, {n - 1, 0}, {n - 1, n - 1}, {n / 2, n / 3}} {
				make := func() blas.Matrix {
					a := s.empty(n, n).fillLower(s.normal)
					a.Set(at[0], at[1], bad)
					return a.Matrix
				}
				what := fmt.Sprintf("n=%d,%v at %v", n, bad, at)
				noConvergence(t, what, s.b.SymEig(make(), s.nanVector(n), true))
				noConvergence(t, what+", values only", s.b.SymEig(make(), s.nanVector(n), false))
				noConvergence(t, what+", top", s.b.SymEigTop(make(), s.nanVector(1), s.empty(1, n).Matrix))
				noConvergence(t, what+", all from the top",
					s.b.SymEigTop(make(), s.nanVector(n), s.empty(n, n).Matrix))
			}
		}
	}
}

func noConvergence(t *testing.T, what string, err error) {
	t.Helper()
	var nc *blas.NoConvergenceError
	if !errors.As(err, &nc) {
		t.Errorf("%s: error is %T (%v): want *blas.NoConvergenceError", what, err, err)
	}
}

// columns returns matrices that are difficult to orthogonalize, as functions of (i, j).
func (s *suite) columns(m int) map[string]func(i, j int) float64 {
	shared := s.vector(m)
	return map[string]func(i, j int) float64{
		"normal":   s.normal,
		"zero":     func(int, int) float64 { return 0 },
		"rank one": func(i, j int) float64 { return shared[i] * float64(j+1) },
		"graded":   func(i, j int) float64 { return s.rng.NormFloat64() * math.Pow(10, -float64(j)/2) },
		"close":    func(i, j int) float64 { return shared[i] + 1e-12*s.rng.NormFloat64() },
		"huge":     func(i, j int) float64 { return math.Ldexp(s.rng.NormFloat64(), 600) },
		"tiny":     func(i, j int) float64 { return math.Ldexp(s.rng.NormFloat64(), -600) },
		"identity": func(i, j int) float64 { return float64(1 - min(1, max(i-j, j-i))) },
	}
}

// testQR checks that Q is orthonormal to working accuracy even if A does not have full rank, and
// that Q L' is A, column by column.
func testQR(t *testing.T, s *suite) {
	sizes := [][2]int{{0, 0}, {1, 0}, {1, 1}, {2, 1}, {5, 5}, {33, 31}, {64, 33}, {100, 65}, {130, 130}}
	for _, size := range racetest.Some(sizes, [][2]int{{1, 0}, {5, 5}, {64, 33}}) {
		m, n := size[0], size[1]
		for name, f := range s.columns(m) {
			s.qr(t, fmt.Sprintf("m=%d,n=%d,%s", m, n, name), s.random(m, n).fill(f))
		}
	}
}

func (s *suite) qr(t *testing.T, what string, q *guarded) {
	t.Helper()
	a, m, n := q.Clone(), q.Rows, q.Cols
	l := s.empty(n, n)
	s.b.QR(q.Matrix, l.Matrix)
	q.fenced(t, "A", false)
	l.fenced(t, "L", true)
	for j := range n {
		if !(l.At(j, j) >= 0) {
			t.Fatalf("%s: L[%d,%d] is %v: want a number >= 0", what, j, j, l.At(j, j))
		}
		for i := range j + 1 {
			got, _ := terms(true, false, 1, q.Matrix, q.Matrix, 0, a, i, j, m)
			within(t, got, float64(1-min(1, j-i)), tolerance(m), "%s: q_%d'q_%d", what, i, j)
		}
		var norm float64
		for i := range m {
			norm = math.Hypot(norm, a.At(i, j))
		}
		for i := range m {
			got, _ := terms(false, true, 1, q.Matrix, l.Matrix, 0, a, i, j, j+1)
			within(t, got, a.At(i, j), tolerance(m)*norm, "%s: (Q L')[%d,%d]", what, i, j)
		}
	}
}

// testQRNaN checks that values that are not finite give NaN, without an endless loop.
func testQRNaN(t *testing.T, s *suite) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		a, l := s.random(40, 35), s.empty(35, 35)
		a.Set(20, 33, bad)
		s.b.QR(a.Matrix, l.Matrix)
		a.fenced(t, "A", false)
		l.fenced(t, "L", true)
		if !math.IsNaN(a.At(39, 34)) || !math.IsNaN(l.At(34, 34)) {
			t.Errorf("%v in the matrix: Q and L end in %v and %v: want NaN", bad, a.At(39, 34), l.At(34, 34))
		}
	}
}
