package graph_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// TestFailures: what fails on the way fails the graph, with its error.
func TestFailures(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(2, 7))
	x := enginetest.Normal(rng, 60, 5, 1)
	rbf := enginetest.Kernel(t, "rbf:sigma=2")
	for what, f := range map[string]func(context.Context, points.Points) error{
		"Nearest": func(ctx context.Context, x points.Points) error {
			_, err := graph.Nearest(ctx, eng, kernel.Linear(), x, 4)
			return err
		},
		"Nearest of a kernel": func(ctx context.Context, x points.Points) error {
			_, err := graph.Nearest(ctx, eng, rbf, x, 4)
			return err
		},
		"NearestBetween": func(ctx context.Context, x points.Points) error {
			_, err := graph.NearestBetween(ctx, eng, rbf, x, x, 4)
			return err
		},
		"Within and Geodesics": func(ctx context.Context, x points.Points) error {
			a, err := graph.Within(ctx, eng, kernel.Linear(), x, 2)
			if err == nil {
				_, err = graph.Geodesics(ctx, eng, a)
			}
			return err
		},
	} {
		enginetest.FailEverywhere(t, what, 40, func(ctx context.Context) error { return f(ctx, x) })
		enginetest.FailEverywhere(t, what+", sparse", 40, func(ctx context.Context) error {
			return f(ctx, enginetest.Sparse(x))
		})
	}
	enginetest.FailEverywhere(t, "NearestRows", 40, func(ctx context.Context) error {
		_, err := graph.NearestRows(ctx, eng, x, nil, 4)
		return err
	})
	enginetest.FailEverywhere(t, "NearestRows between", 40, func(ctx context.Context) error {
		_, err := graph.NearestRows(ctx, eng, x, x, 4)
		return err
	})
}
