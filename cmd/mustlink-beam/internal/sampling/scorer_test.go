package sampling_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/sampling"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/landmarks"
)

// crowd returns many points in one cluster and a few far away, one in each direction.
func crowd(seed uint64, many, few int) *points.Dense {
	rng := rand.New(rand.NewPCG(seed, seed))
	x := &points.Dense{N: many + few, D: few}
	for i := range x.N {
		for f := range few {
			v := 0.02 * rng.NormFloat64()
			if i-many == f {
				v += 10
			}
			x.Data = append(x.Data, v)
		}
	}
	return x
}

// TestScorer checks that a Scorer from the sample that Scores draws gives the same scores, for all
// points at once and in parts.
func TestScorer(t *testing.T) {
	eng := enginetest.New(t, 2)
	x := crowd(4, 500, 6)
	for _, text := range []string{"rbf:sigma=2", "linear"} {
		k := enginetest.Kernel(t, text)
		for _, m := range []int{3, 40, 400} {
			src := landmarks.OfKernel(eng, k, x)
			want, err := landmarks.Scores(t.Context(), eng, src, m, 11)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := landmarks.Select(t.Context(), eng, landmarks.Uniform, src, min(2*m, x.N), nil, 11)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(rows)
			diagonal, err := k.Diagonal(t.Context(), eng, x)
			if err != nil {
				t.Fatal(err)
			}
			trace := 0.0
			for _, v := range diagonal {
				trace += v
			}
			scorer, err := sampling.NewScorer(t.Context(), eng, k, x.Select(rows), m, x.N, trace)
			if err != nil {
				t.Fatal(err)
			}
			got, err := scorer.Scores(t.Context(), eng, x)
			if err != nil {
				t.Fatal(err)
			}
			// Rounding of kernel values, relative to the ridge, and the condition of the shifted
			// matrix.
			tolerance := 1e-14 * float64(x.N) * float64(m) / 0.01
			for i, v := range want {
				if !(math.Abs(got[i]-v) <= tolerance) {
					t.Fatalf("%s, m=%d: score %d is %v, want %v", text, m, i, got[i], v)
				}
			}
			part, err := scorer.Scores(t.Context(), eng, points.Slice(x, 100, 351))
			if err != nil {
				t.Fatal(err)
			}
			same := slices.Equal(part, got[100:351])
			if eng.Backend().Name() == "netlib" { // its rows depend on their number, up to rounding
				same = slices.EqualFunc(part, got[100:351], func(a, b float64) bool {
					return math.Abs(a-b) <= tolerance
				})
			}
			if !same {
				t.Errorf("%s, m=%d: other scores for a part of the points", text, m)
			}
		}
	}
}

func TestScorerErrors(t *testing.T) {
	eng, k, x := enginetest.New(t, 1), enginetest.Kernel(t, "linear"), crowd(1, 8, 2)
	for name, f := range map[string]func() error{
		"no landmarks": func() error {
			_, err := sampling.NewScorer(t.Context(), eng, k, x, 0, 10, 1)
			return err
		},
		"an empty sample": func() error {
			_, err := sampling.NewScorer(t.Context(), eng, k, x.Select(nil), 1, 10, 1)
			return err
		},
		"too few points": func() error {
			_, err := sampling.NewScorer(t.Context(), eng, k, x, 1, 9, 1)
			return err
		},
		"a negative trace": func() error {
			_, err := sampling.NewScorer(t.Context(), eng, k, x, 1, 10, -1)
			return err
		},
		"a trace of no use": func() error {
			_, err := sampling.NewScorer(t.Context(), eng, k, x, 1, 10, math.NaN())
			return err
		},
	} {
		var want *fault.ParamError
		if err := f(); !errors.As(err, &want) {
			t.Errorf("%s: %v, want a *fault.ParamError", name, err)
		}
	}
	// All points are at the origin: none has a positive score.
	zero := &points.Dense{N: 4, D: 2, Data: make([]float64, 8)}
	scorer, err := sampling.NewScorer(t.Context(), eng, k, zero, 2, 10, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := scorer.Scores(t.Context(), eng, x); err != nil || slices.Max(got) != 0 {
		t.Errorf("scores %v, error %v, want zeros", got, err)
	}
}
