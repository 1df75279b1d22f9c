//go:build !race

// This test compares numbers, which the race detector does not check, and fits all methods, which
// the race detector makes ten times slower.

package builds

import (
	"context"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
)

// TestBackendsAgree: in every method, gonum, the slow reference, learns the same geometry as the
// backend of the build.
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
			t.Errorf("%s on %s: distances differ by %.1e, iterations %v", r.Method, r.Problem, r.Distances,
				r.Iterations)
		}
		if r.Objective != nil && !(*r.Objective <= tolerance(r.Method)) {
			t.Errorf("%s on %s: objectives differ by %.1e, iterations %v", r.Method, r.Problem, *r.Objective,
				r.Iterations)
		}
	}
}

// tolerance is 1e-7, the effect of rounding in regularized problems with a condition number of
// about 1e8. Ascents that stop when the gain is small, far from where the gradient vanishes, differ
// by as much as their parameter tol allows.
func tolerance(method string) float64 {
	switch method {
	case "nca", "sdplr":
		return 1e-4
	}
	return 1e-7
}
