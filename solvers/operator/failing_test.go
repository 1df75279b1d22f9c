package operator_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/solvers/operator"
)

// TestFailures: what fails on the way fails the search, factor or solution, with its error.
func TestFailures(t *testing.T) {
	eng, values := enginetest.New(t, 1), make([]float64, 270) // above the order that is decomposed
	for i := range values {
		values[i] = math.Pow(0.9, float64(i))
	}
	large := diagonal(t, values)
	x, b := enginetest.Normal(rand.New(rand.NewPCG(2, 7)), 90, 3, 0), operatorRandom(100, 3)
	for what, f := range map[string]func(context.Context) error{
		"top of few": func(ctx context.Context) error {
			_, err := operator.TopEigenpairs(ctx, eng, diagonal(t, []float64{3, 2, 1, 0.5}), 2,
				operator.EigenOptions{})
			return err
		},
		"top": func(ctx context.Context) error {
			_, err := operator.TopEigenpairs(ctx, eng, large, 3, operator.EigenOptions{})
			return err
		},
		"Laplacian": func(ctx context.Context) error {
			_, err := operator.LaplacianEigenpairs(ctx, eng, rings(40, 3), true, 4, operator.EigenOptions{})
			return err
		},
		"factor": func(ctx context.Context) error {
			_, err := operator.NewFactor(ctx, eng, enginetest.Kernel(t, "rbf:sigma=1"), x,
				operator.FactorOptions{Most: 40})
			return err
		},
		"solution": func(ctx context.Context) error {
			_, err := operator.Solve(ctx, eng, grid(t, 10, 0.1), b, operator.SolveOptions{})
			return err
		},
	} {
		enginetest.FailEverywhere(t, what, 16, f)
	}
}
