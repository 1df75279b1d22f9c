package kernel_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/points"
)

// BenchmarkGram fills a reused matrix. GFLOP/s counts n^2 d, the products of one triangle.
func BenchmarkGram(b *testing.B) {
	for _, name := range backends.Names() {
		backend, err := backends.Open(backends.Options{Name: name})
		if err != nil {
			b.Fatal(err)
		}
		eng := enginetest.With(b, engine.Options{Backend: backend})
		for _, s := range []struct{ n, d int }{{1000, 16}, {2000, 16}, {2000, 100}, {2000, 784}} {
			x := enginetest.Normal(rand.New(rand.NewPCG(1, 1)), s.n, s.d, 0)
			for _, text := range []string{"linear", "rbf:sigma=5", "exp:width=5"} {
				k := enginetest.Kernel(b, text)
				b.Run(fmt.Sprintf("n=%d/d=%d/kernel=%s/backend=%s", s.n, s.d, text, name),
					func(b *testing.B) {
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
	eng := enginetest.New(b, 0)
	rng := rand.New(rand.NewPCG(1, 1))
	y := enginetest.Normal(rng, 2000, 50, 0)
	for _, rows := range []int{1, 100, 2000} {
		x := enginetest.Normal(rng, rows, 50, 0)
		k := enginetest.Kernel(b, "rbf:sigma=5")
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

// wordCounts returns n sparse points of about the given number of features each, out of d: feature
// c is drawn with a probability proportional to 1/(c+1), like words of a text.
func wordCounts(rng *rand.Rand, n, d, features int) *points.CSR {
	total := 0.0
	for c := range d {
		total += 1 / float64(c+1)
	}
	x := &points.CSR{N: n, D: d, Start: []int{0}}
	for range n {
		for c := range d {
			if rng.Float64() < float64(features)/float64(c+1)/total {
				x.Col, x.Val = append(x.Col, int32(c)), append(x.Val, rng.ExpFloat64())
			}
		}
		x.Start = append(x.Start, len(x.Col))
	}
	return x
}

// BenchmarkSparseGram fills a reused matrix with products of sparse points. Mproducts/s counts the
// products of nonzero values in one triangle.
func BenchmarkSparseGram(b *testing.B) {
	eng := enginetest.New(b, 0)
	x := wordCounts(rand.New(rand.NewPCG(1, 1)), 1993, 4862, 150)
	in := make([]float64, x.D) // points with each feature
	for _, c := range x.Col {
		in[c]++
	}
	products := 0.0
	for _, m := range in {
		products += m * (m + 1) / 2
	}
	for _, text := range []string{"linear", "cosine", "rbf:sigma=5"} {
		k, dst := enginetest.Kernel(b, text), eng.NewMatrix(x.N, x.N)
		b.Run(fmt.Sprintf("n=%d/d=%d/kernel=%s/workers=%d", x.N, x.D, text, eng.Workers()),
			func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := k.GramTo(b.Context(), eng, dst, x); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(products*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mproducts/s")
			})
	}
}

// BenchmarkSparseLandmarks evaluates a Gaussian kernel of 100,000 sparse points, 50 of 10,000
// features each, against 500 of them, sparse and dense.
func BenchmarkSparseLandmarks(b *testing.B) {
	const n, d, each, m = 100_000, 10_000, 50, 500
	rng := rand.New(rand.NewPCG(1, 1))
	x := &points.CSR{N: n, D: d, Start: make([]int, 1, n+1)}
	for range n {
		seen := map[int32]bool{}
		for len(seen) < each {
			seen[int32(rng.IntN(d))] = true
		}
		for _, c := range slices.Sorted(maps.Keys(seen)) {
			x.Col, x.Val = append(x.Col, c), append(x.Val, rng.Float64())
		}
		x.Start = append(x.Start, len(x.Col))
	}
	rows := rng.Perm(n)[:m]
	sparse := x.Select(rows)
	dense := &points.Dense{N: m, D: d, Data: make([]float64, m*d)}
	for i := range m {
		col, val := sparse.(*points.CSR).Row(i)
		for k, c := range col {
			dense.Row(i)[c] = val[k]
		}
	}
	eng, k := enginetest.New(b, 0), enginetest.Kernel(b, "rbf:sigma=3")
	for name, y := range map[string]points.Points{"sparse": sparse, "dense": dense} {
		b.Run("landmarks="+name, func(b *testing.B) {
			dst := eng.NewMatrix(n, m)
			for b.Loop() {
				if err := k.CrossTo(b.Context(), eng, dst, x, y); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
