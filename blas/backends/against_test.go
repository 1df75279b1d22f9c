package backends

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/mustlink/mustlink/blas"
)

// contest is one operation that native and a rival run in turn.
type contest struct {
	name  string
	n     int
	flops float64
	// bind returns one call on a backend, and what has to be restored before it, which is timed
	// between the many calls of a small operation only.
	bind func(b blas.Backend) (restore, call func())
}

func contests(n int) []contest {
	rng := rand.New(rand.NewPCG(1, 1))
	x, spd := blas.NewMatrix(n, n), blas.NewMatrix(n, n)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	for i := range n {
		for j := range i {
			spd.Set(i, j, x.At(i, j)/float64(n))
		}
		spd.Set(i, i, 9)
	}
	// into makes operations with an output of their own, over those that overwrite a copy.
	into := func(call func(b blas.Backend, c blas.Matrix)) func(b blas.Backend) (restore, run func()) {
		return func(b blas.Backend) (restore, run func()) {
			c := blas.NewMatrix(n, n)
			return func() {}, func() { call(b, c) }
		}
	}
	over := func(start blas.Matrix,
		call func(b blas.Backend, c blas.Matrix) error) func(b blas.Backend) (restore, run func()) {
		return func(b blas.Backend) (restore, run func()) {
			c := blas.NewMatrix(n, n)
			return func() { c.CopyFrom(start) }, func() {
				if err := call(b, c); err != nil {
					panic(err)
				}
			}
		}
	}
	triangle := blas.NewMatrix(n, n)
	cube := float64(n) * float64(n) * float64(n)
	list := []contest{
		{"gemm", n, 2 * cube, into(func(b blas.Backend, c blas.Matrix) {
			b.Gemm(false, false, 1, x, x, 0, c)
		})},
		{"gemmNT", n, 2 * cube, into(func(b blas.Backend, c blas.Matrix) {
			b.Gemm(false, true, 1, x, x, 0, c)
		})},
		{"gemmTN", n, 2 * cube, into(func(b blas.Backend, c blas.Matrix) {
			b.Gemm(true, false, 1, x, x, 0, c)
		})},
		{"syrk", n, cube, into(func(b blas.Backend, c blas.Matrix) { b.Syrk(false, 1, x, 0, c) })},
		{"symm", n, 2 * cube, into(func(b blas.Backend, c blas.Matrix) { b.Symm(true, 1, spd, x, 0, c) })},
		{"cholesky", n, cube / 3, over(spd, func(b blas.Backend, c blas.Matrix) error {
			return b.Cholesky(c)
		})},
		{"inverse", n, cube / 3, over(spd, func(b blas.Backend, c blas.Matrix) error {
			return b.TriangularInverse(c)
		})},
		{"qr", n, 8 * cube / 3, over(x, func(b blas.Backend, c blas.Matrix) error {
			b.QR(c, triangle)
			return nil
		})},
		{"gemv", n, 2 * float64(n) * float64(n), into(func(b blas.Backend, c blas.Matrix) {
			b.Gemv(false, 1, x, x.Row(0), 0, c.Row(0))
		})},
		{"gemvT", n, 2 * float64(n) * float64(n), into(func(b blas.Backend, c blas.Matrix) {
			b.Gemv(true, 1, x, x.Row(0), 0, c.Row(0))
		})},
		{"symv", n, 2 * float64(n) * float64(n), into(func(b blas.Backend, c blas.Matrix) {
			b.Symv(1, x, x.Row(0), 0, c.Row(0))
		})},
		{"syr", n, float64(n) * float64(n), over(x, func(b blas.Backend, c blas.Matrix) error {
			b.Syr(1, x.Row(0), c)
			return nil
		})},
	}
	for _, side := range []string{"left", "right"} {
		for _, trans := range []string{"", "T"} {
			left, t := side == "left", trans == "T"
			list = append(list,
				contest{"trsm/" + side + trans, n, cube, over(x, func(b blas.Backend, c blas.Matrix) error {
					b.Trsm(left, t, spd, c)
					return nil
				})},
				contest{"trmm/" + side + trans, n, cube, over(x, func(b blas.Backend, c blas.Matrix) error {
					b.Trmm(left, t, spd, c)
					return nil
				})})
		}
	}
	return list
}

// BenchmarkAgainst runs native and a rival in turn, netlib where it is built in and gonum
// elsewhere, and reports how many times as fast native was, by the median of the rounds. Take
// at least seven: -benchtime 7x. OpenBLAS's threads spin for a while after a large call and
// take a core from who comes next: set OPENBLAS_THREAD_TIMEOUT=4, with which they soon sleep.
// MUSTLINK_SIMD chooses native's kernels; OPENBLAS_CORETYPE=Haswell holds OpenBLAS to AVX2.
func BenchmarkAgainst(b *testing.B) {
	names := Names()
	rival := names[len(names)-1]
	if rival == "native" {
		rival = "gonum"
	}
	for _, threads := range []int{1, 2} {
		var pair [2]blas.Backend
		for i, name := range []string{"native", rival} {
			var err error
			if pair[i], err = Open(Options{Name: name, Threads: threads,
				SIMD: os.Getenv("MUSTLINK_SIMD")}); err != nil {
				b.Fatal(err)
			}
		}
		for _, n := range []int{16, 64, 128, 512, 1024, 2000, 2048} {
			for _, c := range contests(n) {
				b.Run(fmt.Sprintf("%s/n=%d/threads=%d/rival=%s", c.name, n, threads, rival),
					func(b *testing.B) {
						c.run(b, pair)
					})
			}
		}
	}
}

func (c *contest) run(b *testing.B, pair [2]blas.Backend) {
	calls := max(1, int(1e7/c.flops)) // a round of a small operation is many calls
	var took [2][]float64
	var restore, call [2]func()
	for i, backend := range pair {
		restore[i], call[i] = c.bind(backend)
		restore[i]()
		call[i]()
	}
	for b.Loop() {
		for i := range pair {
			restore[i]()
			start := time.Now()
			call[i]()
			for range calls - 1 {
				restore[i]()
				call[i]()
			}
			took[i] = append(took[i], time.Since(start).Seconds()/float64(calls))
		}
	}
	ratios := make([]float64, len(took[0]))
	for i := range ratios {
		ratios[i] = took[1][i] / took[0][i]
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(ratios), "times-rival")
	b.ReportMetric(c.flops/median(took[0])/1e9, "GFLOP/s")
	b.ReportMetric(c.flops/median(took[1])/1e9, "rival-GFLOP/s")
}

func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return (s[len(s)/2] + s[(len(s)-1)/2]) / 2
}
