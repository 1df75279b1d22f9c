package optimize

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// small returns a Done function that stops at a gradient below the limit.
func small(limit float64) func(int, float64, []float64, []float64) (bool, error) {
	return func(_ int, _ float64, _, gradient []float64) (bool, error) {
		most := 0.0
		for _, g := range gradient {
			most = max(most, math.Abs(g))
		}
		return most <= limit, nil
	}
}

func descending(trace []float64) bool {
	for i := 1; i < len(trace); i++ {
		if !(trace[i] < trace[i-1]) {
			return false
		}
	}
	return true
}

// TestMinimizeQuadratic minimizes convex quadratic functions with known minimum, for any condition
// number and start; the values fall.
func TestMinimizeQuadratic(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		n := rapid.IntRange(1, 30).Draw(rt, "n")
		spread := rapid.Float64Range(0, 3).Draw(rt, "spread")
		weight, center, x := make([]float64, n), vector(rng, n), vector(rng, n)
		for i := range weight {
			weight[i] = math.Pow(10, spread*rng.Float64())
		}
		f := func(x, gradient []float64) (float64, error) {
			sum := 0.0
			for i, v := range x {
				d := v - center[i]
				sum += weight[i] * d * d / 2
				gradient[i] = weight[i] * d
			}
			return sum, nil
		}
		out, err := MinimizeLBFGS(context.Background(), table(t), f, x,
			LBFGSOptions{MaxIter: 2000, Done: small(1e-9)})
		if err != nil || !out.Converged || !descending(out.Trace) {
			rt.Fatalf("%+v, %v", out, err)
		}
		for i, v := range x {
			if math.Abs(v-center[i]) > 1e-6 {
				rt.Fatalf("x %d is %g, want %g", i, v, center[i])
			}
		}
	})
}

// TestMinimizeCurvedAndWalled minimizes the Rosenbrock function, and a function that is NaN beyond
// a boundary.
func TestMinimizeCurvedAndWalled(t *testing.T) {
	banana := func(x, gradient []float64) (float64, error) {
		a, b := 1-x[0], x[1]-x[0]*x[0]
		gradient[0], gradient[1] = -2*a-400*x[0]*b, 200*b
		return a*a + 100*b*b, nil
	}
	x := []float64{-1.2, 1}
	out, err := MinimizeLBFGS(context.Background(), table(t), banana, x,
		LBFGSOptions{MaxIter: 200, Done: small(1e-10)})
	if err != nil || !out.Converged || math.Abs(x[0]-1)+math.Abs(x[1]-1) > 1e-8 || !descending(out.Trace) {
		t.Errorf("banana: %v, %+v, %v", x, out, err)
	}
	wall := func(x, gradient []float64) (float64, error) { // x - log x, NaN for x < 0
		gradient[0] = 1 - 1/x[0]
		return x[0] - math.Log(x[0]), nil
	}
	x = []float64{1e6}
	out, err = MinimizeLBFGS(context.Background(), table(t), wall, x,
		LBFGSOptions{MaxIter: 200, Done: small(1e-9)})
	// as far as values can show
	if err != nil || !out.Converged || math.Abs(x[0]-1) > 1e-7 || !descending(out.Trace) {
		t.Errorf("wall: %v, %+v, %v", x, out, err)
	}
}

func TestMinimizeEnds(t *testing.T) {
	ctx := context.Background()
	square := func(x, gradient []float64) (float64, error) {
		gradient[0] = 2 * x[0]
		return x[0] * x[0], nil
	}
	never := func(int, float64, []float64, []float64) (bool, error) { return false, nil }
	x := []float64{100}
	if out, err := MinimizeLBFGS(ctx, table(t), square, x,
		LBFGSOptions{MaxIter: 1, Done: never}); err != nil || out.Converged || len(out.Trace) != 2 {
		t.Errorf("a bound of one iteration: %+v, %v", out, err)
	}
	x = []float64{100}
	if out, err := MinimizeLBFGS(ctx, table(t), square, x,
		LBFGSOptions{MaxIter: 1000, Done: never}); err != nil || !out.Converged || math.Abs(x[0]) > 1e-8 {
		t.Errorf("until no step leads lower: %v, %+v, %v", x, out, err)
	}
	broken := errors.New("broken")
	fails := func(x, gradient []float64) (float64, error) { return 0, broken }
	if _, err := MinimizeLBFGS(ctx, table(t), fails, []float64{1},
		LBFGSOptions{MaxIter: 5, Done: never}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	nan := func(x, gradient []float64) (float64, error) { return math.NaN(), nil }
	if _, err := MinimizeLBFGS(ctx, table(t), nan, []float64{1},
		LBFGSOptions{MaxIter: 5, Done: never}); !fault.IsInput(err) {
		t.Errorf("NaN at the start: error %v", err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := MinimizeLBFGS(done, table(t), square, []float64{1},
		LBFGSOptions{MaxIter: 5, Done: never}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
	stop := func(_ int, _ float64, _, _ []float64) (bool, error) { return false, broken }
	if _, err := MinimizeLBFGS(ctx, table(t), square, []float64{1},
		LBFGSOptions{MaxIter: 5, Done: stop}); !errors.Is(err, broken) {
		t.Errorf("error of Done: %v", err)
	}
}
