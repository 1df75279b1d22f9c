//go:build !race

// Numbers, which the race detector does not look at, and fits of all methods, which it makes ten
// times slower.

package builds

import (
	"context"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
)

// TestBackendsAgree: gonum, the slow reference, learns the geometry that the build's own backend
// learns, in every method.
func TestBackendsAgree(t *testing.T) {
	ctx := context.Background()
	own, err := Compute(ctx, enginetest.New(t, 2), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := backends.Open(backends.Options{Name: "gonum", SIMD: "generic"})
	if err != nil {
		t.Fatal(err)
	}
	eng, err := engine.New(engine.Options{Workers: 2, Backend: b})
	if err != nil {
		t.Fatal(err)
	}
	var methods []string
	reference, err := Compute(ctx, eng, func(_, _ int, method string) { methods = append(methods, method) })
	if err != nil {
		t.Fatal(err)
	}
	if len(methods) != len(catalog.Methods()) {
		t.Errorf("progress of %d methods: want %d", len(methods), len(catalog.Methods()))
	}
	rows, err := Compare([]*Digest{own, reference})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if !(r.Distances <= tolerance(r.Method)) {
			t.Errorf("%s on %s: distances differ by %.1e, iterations %v", r.Method, r.Problem, r.Distances, r.Iterations)
		}
		if r.Objective != nil && !(*r.Objective <= tolerance(r.Method)) {
			t.Errorf("%s on %s: objectives differ by %.1e, iterations %v", r.Method, r.Problem, *r.Objective, r.Iterations)
		}
	}
}

// tolerance is 1e-7, what rounding in regularized problems (conditioned like 1e8) comes to. Ascents
// that end when little is to be gained, far from where the gradient vanishes, are as far apart as
// their parameter tol lets them be.
func tolerance(method string) float64 {
	switch method {
	case "nca", "sdplr":
		return 1e-4
	}
	return 1e-7
}
