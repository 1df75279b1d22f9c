package tile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/mustlink/mustlink/asm"
)

// BenchmarkWorkers multiplies with one worker and with two in turn, and reports the speedup, by the
// median of the rounds. Use at least seven: -benchtime 7x.
func BenchmarkWorkers(b *testing.B) {
	table, err := asm.Select(asm.Best())
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{256, 512, 1024, 2048} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			p := Product{Alpha: 1, A: operand(rng, false, n, n), B: operand(rng, false, n, n),
				C: random(rng, n, n)}
			nests := []*Nest{New(table, 1), New(table, 2)}
			var ratios []float64
			round := func() {
				var took [2]float64
				for i, nest := range nests {
					start := time.Now()
					nest.Multiply(p)
					took[i] = time.Since(start).Seconds()
				}
				ratios = append(ratios, took[0]/took[1])
			}
			round() // warm
			ratios = nil
			for b.Loop() {
				round()
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "times-one")
		})
	}
}
