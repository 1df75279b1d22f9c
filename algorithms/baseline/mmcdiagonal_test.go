package baseline

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// TestMMCNewtonSteps checks that Newton steps reach the optimum of the weights where the cheap
// first steps do not. By definition, the derivative of sum sqrt(z'w) - sum w is then 0 for positive
// weights and not positive for zero weights. The objective must never fall.
func TestMMCNewtonSteps(t *testing.T) {
	newton := 0
	propertytest.Check(t, func(rt *rapid.T) {
		const d = 12
		ctx := context.Background()
		x, _, set := enginetest.Bands(rt, 60, d, 40, rapid.Uint64().Draw(rt, "seed"))
		params := param.Default[MMC]()
		params.Diagonal = true
		p, _, err := params.frame(ctx, enginetest.New(rt, 1), x, set)
		if err != nil {
			rt.Fatal(err)
		}
		var gaps []float64
		trace, converged, err := p.newton(ctx, 200, func(_ int, _, gap float64) bool {
			gaps = append(gaps, gap)
			return gap < 1e-12
		})
		if err != nil {
			rt.Fatal(err)
		}
		// The bound is linear in the derivative, the objective quadratic, so the objective stops
		// rising at the square root of rounding.
		if last := gaps[len(gaps)-1]; !converged && !(last < 1e-7) {
			rt.Fatalf("%d steps end %g below the optimum", len(trace)-1, last)
		}
		for i := 1; i < len(trace); i++ {
			if trace[i] < trace[i-1]*(1-1e-14) {
				rt.Fatalf("step %d falls from %.17g to %.17g", i, trace[i-1], trace[i])
			}
		}
		if len(trace) > warmUp+2 {
			newton++
		}
		lengths := make([]float64, p.z.Rows)
		for k := range lengths {
			for c, v := range p.start {
				lengths[k] += p.z.At(k, c) * v * v
			}
		}
		for c, v := range p.start {
			g := -1.0
			for k, l := range lengths {
				g += p.z.At(k, c) / (2 * math.Sqrt(l))
			}
			if v > 1e-6 && !(math.Abs(g) <= 1e-4) || !(g <= 1e-4) {
				rt.Fatalf("weight %d is %g, the derivative there %g", c, v*v, g)
			}
		}
	})
	if newton == 0 {
		t.Error("the first steps were enough everywhere: no problem needed Newton steps")
	}
}
