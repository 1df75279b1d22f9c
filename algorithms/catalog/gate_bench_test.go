package catalog_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// BenchmarkGate fits from several goroutines on one engine: three fits of 60 points to one of 500,
// by krca and kbeta in turn. In the netlib build the small calls go through OpenBLAS's gate side by
// side, and each large one alone.
func BenchmarkGate(b *testing.B) {
	type fit struct {
		learner algorithms.Learner
		x       *points.Dense
		set     *links.Set
	}
	var mix []fit
	for i, n := range []int{60, 60, 60, 500, 60, 60, 60, 500} {
		x, _, set := enginetest.Bands(b, n, 8, n/2, 5)
		name := []string{"krca", "kbeta"}[i/4]
		method, err := catalog.Lookup(name)
		if err != nil {
			b.Fatal(err)
		}
		learner, err := method.New(catalog.Config{Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		mix = append(mix, fit{learner, x, set})
	}
	for _, goroutines := range []int{1, 2, 8} {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) {
			eng := enginetest.New(b, 2)
			var next atomic.Int64
			var group sync.WaitGroup
			b.ResetTimer()
			for range goroutines {
				group.Go(func() {
					for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
						f := mix[i%int64(len(mix))]
						if _, err := f.learner.Fit(context.Background(), eng, f.x, f.set); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			group.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "fits/s")
		})
	}
}
