package kernel_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// TestFailures: what fails on the way fails the evaluation, with its error, for dense and
// sparse points.
func TestFailures(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(2, 7))
	x := enginetest.Normal(rng, 40, 5, 1)
	for _, c := range []struct {
		text string
		x    points.Points
	}{{"rbf:sigma=2", x}, {"cosine", enginetest.Sparse(x)}, {"linear", x}} {
		k, n := enginetest.Kernel(t, c.text), c.x.Len()
		m, some := blas.NewMatrix(n, n), blas.NewMatrix(n, 3)
		for what, f := range map[string]func(context.Context) error{
			"Gram": func(ctx context.Context) error {
				_, err := k.Gram(ctx, eng, c.x)
				return err
			},
			"GramScratch": func(ctx context.Context) error {
				_, err := k.GramScratch(ctx, eng, c.x)
				return err
			},
			"Cross": func(ctx context.Context) error {
				_, err := k.Cross(ctx, eng, c.x, c.x)
				return err
			},
			"Diagonal": func(ctx context.Context) error {
				_, err := k.Diagonal(ctx, eng, c.x)
				return err
			},
			"SquaredDistances": func(ctx context.Context) error {
				_, err := k.SquaredDistances(ctx, eng, c.x)
				return err
			},
			"Pairs": func(ctx context.Context) error {
				_, err := k.Pairs(ctx, eng, c.x, [][2]int{{0, 1}, {3, 2}})
				return err
			},
			"MultiplyTo": func(ctx context.Context) error {
				return k.MultiplyTo(ctx, eng, some, c.x, c.x, some.Clone())
			},
			"CrossRows": func(ctx context.Context) error {
				return k.CrossRows(ctx, eng, c.x, c.x, 16, func(kernel.Block) error { return nil })
			},
			"Center": func(ctx context.Context) error {
				_, err := kernel.Center(ctx, eng, m.Clone())
				return err
			},
			"Check": func(ctx context.Context) error {
				if err := k.GramTo(ctx, eng, m, c.x); err != nil {
					return err
				}
				return k.CheckMatrix(ctx, eng, m)
			},
		} {
			enginetest.FailEverywhere(t, c.text+" "+what, 40, f)
		}
	}
}
