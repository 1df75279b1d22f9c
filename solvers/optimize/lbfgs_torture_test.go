package optimize_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// TestMinimizeOddObjectives checks objectives of any size and condition number, with boundaries
// beyond which there is no value: the search stays within the limit and ends at a finite point with
// a value not above the initial one, or the start is refused.
func TestMinimizeOddObjectives(t *testing.T) {
	table := enginetest.New(t, 1).Backend().Kernels()
	rng := rand.New(rand.NewPCG(8, 1))
	for draw := range 300 {
		n := 1 + rng.IntN(6)
		size, curvature, x := math.Pow(10, float64(rng.IntN(301)-150)), make([]float64, n), make([]float64, n)
		for i := range x {
			curvature[i], x[i] = math.Pow(10, float64(rng.IntN(17))), rng.NormFloat64()
		}
		kind, calls := draw%5, 0
		f := func(x, gradient []float64) (float64, error) {
			calls++
			sum := 0.0
			for i, v := range x {
				sum += size * curvature[i] * v * v
				gradient[i] = 2 * size * curvature[i] * v
				switch {
				case kind == 1: // a kink
					sum += size * math.Abs(v)
					gradient[i] += math.Copysign(size, v)
				case kind == 2 && v < -1e-3: // a boundary
					return math.NaN(), nil
				case kind == 3 && v < -1e-3:
					return math.Inf(1), nil
				case kind == 4: // no change at all
					sum, gradient[i] = 0, 0
				}
			}
			return sum, nil
		}
		out, err := optimize.MinimizeLBFGS(context.Background(), table, f, x,
			optimize.LBFGSOptions{MaxIter: 50, Done: func(int, float64, []float64, []float64) (bool, error) {
				return false, nil
			}})
		if err != nil {
			if !fault.IsInput(err) {
				t.Errorf("draw %d: error %v", draw, err)
			}
			continue
		}
		if len(out.Trace) > 51 || calls > 51*130 {
			t.Errorf("draw %d: %d values after %d evaluations", draw, len(out.Trace), calls)
		}
		for k, v := range out.Trace {
			if v-v != 0 || k > 0 && v > out.Trace[k-1] {
				t.Errorf("draw %d: values %v", draw, out.Trace)
				break
			}
		}
		for _, v := range x {
			if v-v != 0 {
				t.Errorf("draw %d: ends at %v", draw, x)
			}
		}
	}
}
