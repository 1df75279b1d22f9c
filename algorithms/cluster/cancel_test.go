package cluster

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/internal/racetest"
)

// TestStoppedAnywhere: all ways to cluster end with the context's error wherever they look at it
// and at whichever report a listener cancels, hand a listener's panic to their caller, and find the
// same clusters afterwards.
func TestStoppedAnywhere(t *testing.T) {
	defer goleak.VerifyNone(t)
	eng := enginetest.New(t, 2)
	x, _, set := enginetest.Bands(t, 120, 3, 15, 4)
	m := blas.MatrixOf(x.N, x.D, x.Data)
	k := gram(m)
	cancels, panics := 0, 0
	for name, run := range map[string]func(context.Context, algorithms.ProgressFunc) (float64, error){
		"k-means": func(ctx context.Context, f algorithms.ProgressFunc) (float64, error) {
			return inertia(KMeans(ctx, eng, m, Params{K: 3, Restarts: 4, Progress: f}))
		},
		"constrained k-means": func(ctx context.Context, f algorithms.ProgressFunc) (float64, error) {
			return inertia(Constrained(ctx, eng, m, set, Params{K: 3, Restarts: 4, Progress: f}))
		},
		"kernel k-means": func(ctx context.Context, f algorithms.ProgressFunc) (float64, error) {
			return inertia(Kernel(ctx, eng, k, Params{K: 3, Restarts: 4, Progress: f}))
		},
		"weighted kernel k-means": func(ctx context.Context, f algorithms.ProgressFunc) (float64, error) {
			return inertia(Kernel(ctx, eng, k, Params{K: 3, Restarts: 4, Progress: f,
				Weights: slices.Repeat([]float64{2}, k.Rows)}))
		},
		"streaming k-means": func(ctx context.Context, f algorithms.ProgressFunc) (float64, error) {
			return streamed(KMeansStream(ctx, eng, inBlocks(m, []int{50, 13}, nil),
				StreamParams{Params: Params{K: 3, Restarts: 4, Progress: f}, Sample: 9}))
		},
		"mini-batch k-means": func(ctx context.Context, f algorithms.ProgressFunc) (float64, error) {
			return streamed(MiniBatch(ctx, eng, inBlocks(m, []int{50, 13}, nil),
				StreamParams{Params: Params{K: 3, Restarts: 4, Progress: f}, Sample: 9, Batch: 20,
					Passes: 2}))
		},
		"penalized k-means": func(ctx context.Context, f algorithms.ProgressFunc) (float64, error) {
			r, err := Penalized(ctx, eng, m, set,
				PenalizedParams{Params: Params{K: 3, Restarts: 4, Progress: f}})
			if err != nil {
				return 0, err
			}
			return r.Objective, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			whole, reports := enginetest.StopAt(0), 0
			want, err := run(whole, func(algorithms.Progress) { reports++ })
			if err != nil || reports == 0 {
				t.Fatalf("%d reports, error %v", reports, err)
			}
			for at := 1; at <= min(whole.Looks(), racetest.Fewer(100)); at++ {
				ctx := enginetest.StopAt(at)
				if _, err := run(ctx, nil); ctx.Stopped() && !errors.Is(err, context.Canceled) {
					t.Errorf("canceled at look %d: error %v", at, err)
				}
				cancels++
			}
			cancels += enginetest.FailEverywhere(t, name, 200, func(ctx context.Context) error {
				_, err := run(ctx, nil)
				return err
			}, "(*coloring).improve")
			for at := 1; at < reports; at++ { // after the last report there is nothing to stop
				ctx, cancel := context.WithCancel(context.Background())
				seen := 0
				_, err := run(ctx, func(algorithms.Progress) {
					if seen++; seen == at {
						cancel()
					}
				})
				cancel()
				if err != nil && !errors.Is(err, context.Canceled) || err == nil && seen < reports {
					t.Errorf("canceled at report %d: %d came, error %v", at, seen, err)
				}
				cancels++
			}
			for at := 1; at <= reports; at++ {
				cause, seen := errors.New("a panic"), 0
				got := panicOf(func() {
					_, _ = run(context.Background(), func(algorithms.Progress) {
						if seen++; seen == at {
							panic(cause)
						}
					})
				})
				if p, ok := got.(*engine.Panic); got != any(cause) && !(ok && errors.Is(p, cause)) {
					t.Errorf("the panic at report %d arrives as %v", at, got)
				}
				panics++
			}
			if got, err := run(context.Background(), nil); err != nil ||
				math.Float64bits(got) != math.Float64bits(want) {
				t.Errorf("afterwards the objective is %v, error %v: want %v", got, err, want)
			}
		})
	}
	t.Logf("clusterings canceled: %d, panics of a callback that reached the caller: %d", cancels, panics)
}

// inertia is the objective of a result.
func inertia(r *Result, err error) (float64, error) {
	if err != nil {
		return 0, err
	}
	return r.Inertia, nil
}

// streamed is inertia of a stream.
func streamed(r *StreamResult, err error) (float64, error) {
	if err != nil {
		return 0, err
	}
	return r.Inertia, nil
}

// panicOf runs f and returns the value that it panics with, nil for none.
func panicOf(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}
