package blastest

import (
	"fmt"
	"math"
	"testing"

	"github.com/mustlink/mustlink/internal/racetest"
)

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
