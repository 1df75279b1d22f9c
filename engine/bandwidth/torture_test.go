package bandwidth_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/engine/bandwidth"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// Points scaled by a power of two have bandwidths scaled by it, or an error that states what was
// expected: never 0, Inf or NaN.
func TestRulesAtAnyScale(t *testing.T) {
	ctx, eng, rng := context.Background(), enginetest.New(t, 1), rand.New(rand.NewPCG(2, 8))
	width := func(rule string, x points.Points) (float64, error) {
		spec, err := kernel.Parse("rbf:sigma=" + rule)
		if err != nil {
			t.Fatal(err)
		}
		if spec, err = bandwidth.Resolve(ctx, eng, spec, x); err != nil {
			return 0, err
		}
		var v float64
		if _, err := fmt.Sscanf(spec.String(), "rbf:sigma=%g", &v); err != nil {
			t.Fatal(spec, err)
		}
		return v, nil
	}
	for _, n := range []int{2, 3, 20} {
		x := &points.Dense{N: n, D: 3, Data: make([]float64, 3*n)}
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
		}
		for _, rule := range []string{"mean", "median", "knn10", "msq", "lle"} {
			want, err := width(rule, x)
			if err != nil {
				t.Fatal(err)
			}
			for _, power := range []int{-1060, -1000, -600, -500, -200, 200, 500, 511, 520, 1000} {
				y := &points.Dense{N: n, D: 3, Data: make([]float64, 3*n)}
				for i, v := range x.Data {
					y.Data[i] = math.Ldexp(v, power)
				}
				got, err := width(rule, y)
				switch {
				case err != nil && (!fault.IsInput(err) || !strings.Contains(err.Error(), "want") || power > -300 && power < 500):
					t.Errorf("rule %s, %d points times 2^%d: error %v", rule, n, power, err)
				case err == nil && !(math.Abs(got-math.Ldexp(want, power)) <= 1e-6*math.Ldexp(want, power)):
					t.Errorf("rule %s, %d points times 2^%d: %g, want %g", rule, n, power, got, math.Ldexp(want, power))
				}
			}
		}
	}
}
