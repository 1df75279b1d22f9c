package optimize

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
)

// TestFailures: what fails on the way fails the solver, with its error.
func TestFailures(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(2, 7))
	x, p := enginetest.Matrix(rng, 30, 6, 0), blas.NewMatrix(6, 6)
	eng.Backend().Gemm(true, false, 1./30, x, x, 0, p)
	ones := make([]float64, x.Rows)
	for i := range ones {
		ones[i] = 1
	}
	for what, f := range map[string]func(context.Context) error{
		"graphical lasso": func(ctx context.Context) error {
			_, err := Glasso(ctx, eng, p, 0.05, GlassoOptions{Tol: 1e-8, MaxIter: 100})
			return err
		},
		"hinge": func(ctx context.Context) error {
			_, err := MinimizeHinge(ctx, eng, x, ones, 0.1, HingeOptions{Tolerance: 1e-8, MaxIter: 100})
			return err
		},
		"semidefinite program": func(ctx context.Context) error {
			_, err := MinimizeSDP(ctx, eng, p, []Term{{2, 0, square(3)}, {5, 1, square(2)}}, SDPOptions{})
			return err
		},
	} {
		enginetest.FailEverywhere(t, what, 24, f, "(*program).normal", "(*sdpSearch).coupled",
			"(*sdpSearch).search", "(*sdpSearch).newton")
	}
}
