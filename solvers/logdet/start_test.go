package logdet

import (
	"context"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// grams returns the kernel matrix of points.
func grams(t enginetest.Fataler, g blas.Matrix) blas.Matrix {
	t.Helper()
	k := blas.NewMatrix(g.Rows, g.Rows)
	enginetest.New(t, 0).Backend().Gemm(false, true, 1, g, g, 0, k)
	return k
}

// form is one of the two forms: it returns the nearest matrix and the residual of the optimality
// conditions.
type form func(list []Constraint, o Options) (*Result, float64, error)

func forms(t testing.TB, g blas.Matrix) map[string]form {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	return map[string]form{
		"rows": func(list []Constraint, o Options) (*Result, float64, error) {
			r, err := Rows(ctx, eng, g, list, o)
			if err != nil {
				return nil, 0, err
			}
			return r, r.CheckRows(eng, g, list, o.Gamma).Largest(), nil
		},
		"kernel": func(list []Constraint, o Options) (*Result, float64, error) {
			k := grams(t, g)
			r, err := Kernel(ctx, eng, k.Clone(), list, o)
			if err != nil {
				return nil, 0, err
			}
			check, err := r.CheckKernel(ctx, eng, k, list, o.Gamma)
			return r, check.Largest(), err
		},
	}
}

// TestStartFromMultipliers checks that the multipliers of a result are enough to recompute its
// matrix, and that the multipliers of some constraints lead to the optimum of all.
func TestStartFromMultipliers(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(4, 12).Draw(rt, "n")
		g, list := drawn(rt, n, rapid.IntRange(2, n).Draw(rt, "r"))
		some := rapid.SliceOfN(rapid.Bool(), len(list), len(list)).Draw(rt, "known")
		gamma := rapid.SampledFrom([]float64{0.01, 1, 10, math.Inf(1)}).Draw(rt, "gamma")
		o := Options{Gamma: gamma, Tolerance: 1e-13, MaxSweeps: 200000}
		for name, solve := range forms(t, g) {
			var first []Constraint
			for k, c := range list {
				if some[k] {
					first = append(first, c)
				}
			}
			before, _, err := solve(first, o)
			if err != nil {
				rt.Fatal(err)
			}
			again := o
			again.Start = &Result{Multipliers: before.Multipliers}
			// The matrix of the multipliers equals the earlier one up to rounding, which a
			// tolerance of 1e-13 may take for a change.
			rough := again
			rough.Tolerance = 1e-11
			same, residual, err := solve(first, rough)
			if err != nil {
				rt.Fatal(err)
			}
			if before.Converged && (same.Sweeps > 3 || !(residual <= 1e-9)) {
				rt.Fatalf("%s: %d sweeps from the optimum, residual %g", name, same.Sweeps, residual)
			}
			multipliers, next := make([]float64, len(list)), 0
			for k := range list {
				if some[k] {
					multipliers[k] = before.Multipliers[next]
					next++
				}
			}
			again.Start = &Result{Multipliers: multipliers}
			warm, residual, err := solve(list, again)
			if err != nil {
				rt.Fatal(err)
			}
			cold, _, err := solve(list, o)
			if err != nil {
				rt.Fatal(err)
			}
			if !warm.Converged || !(residual <= 1e-9) {
				rt.Fatalf("%s: %d sweeps, converged %v, residual %g", name, warm.Sweeps, warm.Converged,
					residual)
			}
			for i, v := range cold.A.Data {
				if !(math.Abs(warm.A.Data[i]-v) <= 1e-7*largest(cold.A)) {
					rt.Fatalf("%s: element %d is %.15g, without a start %.15g", name, i, warm.A.Data[i], v)
				}
			}
		}
	})
}

// TestBadStart checks that multipliers that belong to no matrix are refused.
func TestBadStart(t *testing.T) {
	g := blas.MatrixOf(3, 2, []float64{0, 0, 1, 0, 0, 2})
	list := []Constraint{{Kind: AtMost, I: 0, J: 1, Bound: 1}, {Kind: AtLeast, I: 0, J: 2, Bound: 9},
		{Kind: Nearer, I: 0, J: 1, K: 2, Bound: 1}}
	for name, start := range map[string]Result{
		"too few":         {Multipliers: []float64{1}},
		"negative":        {Multipliers: []float64{-1, 0, 0}},
		"NaN":             {Multipliers: []float64{0, math.NaN(), 0}},
		"infinite":        {Multipliers: []float64{0, 0, math.Inf(1)}},
		"indefinite":      {Multipliers: []float64{0, 100, 0}},
		"indefinite pair": {Multipliers: []float64{0, 0.2, 0.2}},
		"slack":           {Multipliers: []float64{2, 0, 0}}, // more than gamma / bound
		"bounds":          {Multipliers: []float64{0, 0, 0}, Bounds: []float64{1, 0, 1}},
		"few bounds":      {Multipliers: []float64{0, 0, 0}, Bounds: []float64{1}},
	} {
		for form, solve := range forms(t, g) {
			if _, _, err := solve(list, Options{Gamma: 1, Start: &start}); !fault.IsInput(err) {
				t.Errorf("%s, %s: error %v, want one of the input", form, name, err)
			}
		}
	}
	many := make([]Constraint, 1024)
	for i := range many {
		many[i] = Constraint{Kind: AtMost, I: i, J: i + 1, Bound: 1}
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	s := &state{Result: &Result{Multipliers: make([]float64, 1024)}, constraints: many}
	if err := s.replay(stopped.Err); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}
