//go:build !netlib

// LAPACKE takes its working memory from Go here, a matrix at a time: with it the bounds are others.

package catalog_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/internal/racetest"
)

// What a small fit allocates, its model included, by one worker: the garbage of many fits at the
// same time is what their goroutines wait for. The bounds are two fifths above what was measured,
// those of krca.FitMetric, of which 23.6 kB in 7 objects are the model, a tenth.
func TestGarbageOfSmallFits(t *testing.T) {
	if racetest.Enabled {
		t.Skip("the race detector allocates, and a sync.Pool drops some buffers under it")
	}
	ctx, eng := context.Background(), enginetest.New(t, 1)
	for _, c := range []struct {
		method      string
		rows        int
		bytes       float64
		allocations float64
	}{
		{"krca.FitMetric", 150, 32.3e3, 34},
		{"krca", 60, 2.3e+05, 4.5e+02}, {"krca", 150, 6.9e+05, 6.8e+02}, {"krca", 500, 3.3e+06, 1.1e+03},
		{"kbeta", 60, 1.4e+05, 3.5e+02}, {"kbeta", 150, 5e+05, 5.8e+02}, {"kbeta", 500, 3.9e+06, 1e+03},
		{"lleratio", 60, 2.3e+05, 7e+02}, {"lleratio", 150, 9e+05, 1.6e+03},
		{"lleratio", 500, 5.9e+06, 3.4e+03},
		{"itml", 60, 1.2e+05, 2.3e+02}, {"itml", 150, 7.5e+05, 2.1e+03}, {"itml", 500, 5e+06, 3.3e+03},
		{"gml", 60, 6.1e+05, 6.6e+02}, {"gml", 150, 2.8e+06, 9.4e+02}, {"gml", 500, 3.4e+07, 3.2e+03},
		{"npkl", 60, 5e+05, 2.1e+03}, {"npkl", 150, 1.6e+06, 4.1e+03}, {"npkl", 500, 5.5e+06, 7.6e+03},
		{"blend", 60, 2.7e+06, 7.1e+03}, {"blend", 150, 1.1e+07, 1.3e+04}, {"blend", 500, 2.3e+07, 2.1e+04},
	} {
		x, labels, _ := enginetest.Bands(t, c.rows, 4, 1, 1)
		set := enginetest.Drawn(t, labels, c.rows/3, c.rows/3, 1)
		metric := krca.Learner{Kernel: enginetest.Spec(t, "rbf:sigma=2"), Params: krca.DefaultParams()}
		fit := func() {
			if _, err := krca.FitMetric(ctx, eng, metric, x, set); err != nil {
				t.Fatal(err)
			}
		}
		if c.method != "krca.FitMetric" {
			method, err := catalog.Lookup(c.method)
			if err != nil {
				t.Fatal(err)
			}
			var l algorithms.Learner
			if l, err = method.New(catalog.Config{Seed: 1, Rows: c.rows}); err != nil {
				t.Fatal(err)
			}
			fit = func() {
				if _, err := l.Fit(ctx, eng, x, set); err != nil {
					t.Fatal(err)
				}
			}
		}
		bytes, allocations := garbage(fit, c.bytes, c.allocations)
		t.Logf("%s", fmt.Sprintf("{%q, %d, %.3g, %.3g},", c.method, c.rows, bytes, allocations))
		if bytes > c.bytes || allocations > c.allocations {
			t.Errorf("%s, %d rows: %.0f bytes, %.0f allocations a fit, want at most %g and %g",
				c.method, c.rows, bytes, allocations, c.bytes, c.allocations)
		}
	}
}

// garbage returns what a call of f allocates after a first one: the least of up to five calls,
// since a collection empties the pools of scratch memory. It stops at one within both bounds.
func garbage(f func(), mostBytes, mostAllocations float64) (bytes, allocations float64) {
	f()
	for i := range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		b, a := float64(after.TotalAlloc-before.TotalAlloc), float64(after.Mallocs-before.Mallocs)
		if i == 0 {
			bytes, allocations = b, a
		}
		if bytes, allocations = min(bytes, b), min(allocations, a); b <= mostBytes && a <= mostAllocations {
			return b, a
		}
	}
	return bytes, allocations
}
