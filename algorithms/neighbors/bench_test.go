package neighbors

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
)

// BenchmarkSearch reports the rate of the products alone, 2 q n d flops.
func BenchmarkSearch(b *testing.B) {
	for _, s := range []struct{ q, n, d, k int }{{2000, 2000, 20, 4}, {1000, 10000, 64, 10}} {
		b.Run(fmt.Sprintf("q=%d/n=%d/d=%d/k=%d", s.q, s.n, s.d, s.k), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			query, train := enginetest.Matrix(rng, s.q, s.d, 0), enginetest.Matrix(rng, s.n, s.d, 0)
			eng := enginetest.New(b, 0)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Search(context.Background(), eng, query, train, s.k, false); err != nil {
					b.Fatal(err)
				}
			}
			flops := 2 * float64(s.q) * float64(s.n) * float64(s.d) * float64(b.N)
			b.ReportMetric(flops/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

// BenchmarkPairs: near rows in many and in few dimensions, and neighbors.
func BenchmarkPairs(b *testing.B) {
	for _, s := range []struct {
		n, d, neighbors int
		threshold       float64
	}{{40000, 32, 0, 2}, {40000, 4, 0, 0.02}, {20000, 200, 0, 10}, {40000, 8, 5, 1e100},
		{10000, 64, 5, 1e100}} {
		b.Run(fmt.Sprintf("n=%d/d=%d/neighbors=%d", s.n, s.d, s.neighbors), func(b *testing.B) {
			x := enginetest.Matrix(rand.New(rand.NewPCG(1, 1)), s.n, s.d, 0)
			eng := enginetest.New(b, 0)
			for b.Loop() {
				o := PairOptions{Neighbors: s.neighbors}
				if _, err := Pairs(b.Context(), eng, x, s.threshold, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
