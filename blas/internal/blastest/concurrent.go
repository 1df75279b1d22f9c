package blastest

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/mustlink/mustlink/blas"
)

// testConcurrent checks that many goroutines at once, on small and large problems, get the same
// bits as one alone, repeatedly.
func testConcurrent(t *testing.T, s *suite) {
	jobs := s.jobs()
	alone := make([][]uint64, len(jobs))
	for i, job := range jobs {
		alone[i] = bits(job())
	}
	const rounds = 3
	again := make([][]uint64, rounds*len(jobs))
	var wg sync.WaitGroup
	for i := range again {
		wg.Go(func() { again[i] = bits(jobs[i%len(jobs)]()) })
	}
	wg.Wait()
	for i, got := range again {
		want := alone[i%len(jobs)]
		for p := range want {
			if got[p] != want[p] {
				t.Fatalf("job %d: element %d is %v, was %v when alone: want the same bits",
					i%len(jobs), p, math.Float64frombits(got[p]), math.Float64frombits(want[p]))
			}
		}
	}
}

// jobs returns calls of every operation, each on its own inputs, that return their output.
func (s *suite) jobs() []func() []float64 {
	var jobs []func() []float64
	for _, n := range []int{17, 65, 190} {
		a, x := s.random(n, n).Matrix, s.vector(n)
		spd := mirror(s.spd(n).Matrix)
		l := s.triangle(n, 0.01).Matrix
		fresh := func() blas.Matrix { return blas.NewMatrix(n, n) }
		check := func(err error) {
			if err != nil {
				panic(fmt.Sprintf("blastest: n=%d: %v", n, err))
			}
		}
		for _, trans := range []bool{false, true} {
			jobs = append(jobs,
				func() []float64 { c := fresh(); s.b.Gemm(trans, !trans, 0.3, a, a, 0, c); return c.Data },
				func() []float64 { c := fresh(); s.b.Syrk(trans, 0.3, a, 0, c); return c.Data },
				func() []float64 { y := make([]float64, n); s.b.Gemv(trans, 0.3, a, x, 0, y); return y },
				func() []float64 { b := a.Clone(); s.b.Trsm(trans, trans, l, b); return b.Data },
				func() []float64 { b := a.Clone(); s.b.Trsm(!trans, trans, l, b); return b.Data },
				func() []float64 { b := a.Clone(); s.b.Trmm(!trans, trans, l, b); return b.Data },
				func() []float64 { c := fresh(); s.b.Symm(trans, 0.3, spd, a, 0, c); return c.Data },
			)
		}
		jobs = append(jobs,
			func() []float64 { c := spd.Clone(); s.b.Syr(0.3, x, c); return c.Data },
			func() []float64 { y := make([]float64, n); s.b.Symv(0.3, spd, x, 0, y); return y },
			func() []float64 { c := spd.Clone(); check(s.b.Cholesky(c)); return c.Data },
			func() []float64 { c := l.Clone(); check(s.b.TriangularInverse(c)); return c.Data },
			func() []float64 { q, r := a.Clone(), fresh(); s.b.QR(q, r); return append(q.Data, r.Data...) },
			func() []float64 {
				c, w := spd.Clone(), make([]float64, n)
				check(s.b.SymEig(c, w, true))
				return append(w, c.Data...)
			},
			func() []float64 {
				v, w := blas.NewMatrix(3, n), make([]float64, 3)
				check(s.b.SymEigTop(spd.Clone(), w, v))
				return append(w, v.Data...)
			},
		)
	}
	return jobs
}
