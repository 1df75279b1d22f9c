package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
)

// BenchmarkGram fills a reused matrix. GFLOP/s counts n^2 d, the products of one triangle.
func BenchmarkGram(b *testing.B) {
	for _, name := range backends.Names() {
		backend, err := backends.Open(backends.Options{Name: name})
		if err != nil {
			b.Fatal(err)
		}
		eng := newEngine(b, engine.Options{Backend: backend})
		for _, s := range []struct{ n, d int }{{1000, 16}, {2000, 16}, {2000, 100}, {2000, 784}} {
			x := normal(rand.New(rand.NewPCG(1, 1)), s.n, s.d, 0)
			for _, text := range []string{"linear", "rbf:sigma=5", "exp:width=5"} {
				k := newKernel(b, text)
				b.Run(fmt.Sprintf("n=%d/d=%d/kernel=%s/backend=%s", s.n, s.d, text, name), func(b *testing.B) {
					dst := eng.NewMatrix(s.n, s.n)
					b.ReportAllocs()
					for b.Loop() {
						if err := k.GramTo(b.Context(), eng, dst, x); err != nil {
							b.Fatal(err)
						}
					}
					flops := float64(s.n) * float64(s.n) * float64(s.d)
					b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
				})
			}
		}
	}
}

// BenchmarkCross evaluates few rows against many points, as prediction does.
func BenchmarkCross(b *testing.B) {
	eng := newEngine(b, engine.Options{})
	rng := rand.New(rand.NewPCG(1, 1))
	y := normal(rng, 2000, 50, 0)
	for _, rows := range []int{1, 100, 2000} {
		x := normal(rng, rows, 50, 0)
		k := newKernel(b, "rbf:sigma=5")
		b.Run(fmt.Sprintf("n=%d/m=2000/d=50/backend=%s", rows, eng.Backend().Name()), func(b *testing.B) {
			dst := eng.NewMatrix(rows, 2000)
			b.ReportAllocs()
			for b.Loop() {
				if err := k.CrossTo(b.Context(), eng, dst, x, y); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
