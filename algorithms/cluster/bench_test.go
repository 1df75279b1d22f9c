package cluster

import (
	"context"
	"fmt"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
)

func BenchmarkKMeans(b *testing.B) {
	for _, s := range []struct{ n, d, k int }{{351, 20, 2}, {2310, 19, 7}, {10000, 20, 10}, {20000, 16, 26},
		{10000, 64, 100}} {
		b.Run(fmt.Sprintf("n=%d/d=%d/k=%d", s.n, s.d, s.k), func(b *testing.B) {
			x := blobs(1, s.n, s.d, s.k, 1)
			eng := enginetest.New(b, 0)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := KMeans(context.Background(), eng, x, Params{K: s.k, Seed: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkConstrained(b *testing.B) {
	for _, s := range []struct{ n, d, k, must, cannot int }{{351, 20, 2, 200, 200}, {2310, 19, 7, 1400, 1400},
		{2310, 19, 7, 0, 20000}} {
		b.Run(fmt.Sprintf("n=%d/d=%d/k=%d/must=%d/cannot=%d", s.n, s.d, s.k, s.must, s.cannot),
			func(b *testing.B) {
				x := blobs(1, s.n, s.d, s.k, 1)
				l := mustSet(b, s.n, labelLinks(1, s.n, s.k, s.must, s.cannot))
				eng := enginetest.New(b, 0)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Constrained(context.Background(), eng, x, l,
						Params{K: s.k, Seed: 1}); err != nil {
						b.Fatal(err)
					}
				}
			})
	}
}

func BenchmarkKernel(b *testing.B) {
	for _, n := range []int{500, 2000} {
		b.Run(fmt.Sprintf("n=%d/k=5", n), func(b *testing.B) {
			k := rbf(blobs(1, n, 10, 5, 1), 0.1)
			eng := enginetest.New(b, 0)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Kernel(context.Background(), eng, k, Params{K: 5, Seed: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
