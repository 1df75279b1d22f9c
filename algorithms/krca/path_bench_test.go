package krca

import (
	"context"
	"math"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
)

// BenchmarkPath compares 50 values of eps on 1000 pairs, from one decomposition, with one fit: 2000
// points, 300 must-links.
func BenchmarkPath(b *testing.B) {
	const n = 2000
	ctx, eng := context.Background(), enginetest.New(b, 0)
	x, _, set := enginetest.Bands(b, n, 20, 300, 1)
	l := Learner{Params: DefaultParams()}
	values := make([]float64, 50)
	for v := range values {
		values[v] = math.Pow(10, -6+float64(v)/10)
	}
	pairs := make([][2]int, 1000)
	for p := range pairs {
		pairs[p] = [2]int{p, n - 1 - p}
	}
	b.Run("fit", func(b *testing.B) {
		for b.Loop() {
			if _, err := l.Fit(ctx, eng, x, set); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("metric", func(b *testing.B) {
		for b.Loop() {
			p, err := l.FitPath(ctx, eng, x, set)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := p.Distances(ctx, eng, x, pairs, values); err != nil {
				b.Fatal(err)
			}
		}
	})
}
