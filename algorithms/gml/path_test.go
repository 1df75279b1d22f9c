package gml

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// grid has the values of gamma in the tests: unsorted, one of them twice.
var grid = []float64{1, 0.1, 10, 1}

// models returns the models for the values.
func models(t enginetest.Fataler, l Learner, x points.Points, set *links.Set, workers int,
	gamma []float64) []*Model {
	t.Helper()
	ctx, eng := context.Background(), enginetest.New(t, workers)
	path, err := l.FitPath(ctx, eng, x, set)
	if err != nil {
		t.Fatal(err)
	}
	list, err := path.(*Path).Models(ctx, eng, gamma)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestPathIsTheFits checks that every gamma on the path has the metric of a separate fit, for all
// priors.
func TestPathIsTheFits(t *testing.T) {
	propertytest.CheckSome(t, 25, func(rt *rapid.T) {
		n := rapid.IntRange(30, 40).Draw(rt, "n")
		x, _, _ := enginetest.Rings(t, n, 2, rapid.Uint64().Draw(rt, "points"))
		set, err := links.New(n,
			enginetest.Mixed(n, 2, rapid.IntRange(4, 10).Draw(rt, "links"), rapid.Uint64().Draw(rt, "seed")))
		if err != nil {
			rt.Fatal(err)
		}
		all := variants()
		l := all[rapid.SampledFrom(slices.Sorted(maps.Keys(all))).Draw(rt, "variant")]
		l.Params.Tol, l.Params.MaxIter = 1e-9, 20000
		got := models(rt, l, x, set, 1, grid)
		if got[0] != got[len(grid)-1] {
			rt.Fatal("the same value was fitted twice")
		}
		for at, v := range grid {
			l.Params.Gamma = v
			m, err := l.Fit(t.Context(), enginetest.New(t, 1), x, set)
			if err != nil {
				rt.Fatal(err)
			}
			if got[at].Params() != l.Params {
				rt.Fatalf("parameters %+v, want %+v", got[at].Params(), l.Params)
			}
			want := m.(*Model)
			if !want.Status().Converged || want.Residual() > 1e-7 {
				continue // rounding leaves no correct digit in either result
			}
			wantSame(rt, "path", got[at], want, x, 1e-3)
		}
	})
}

// TestPathDistances checks that the distances do not depend on the order of the values or the
// number of workers, bit for bit.
func TestPathDistances(t *testing.T) {
	x, labels, _ := enginetest.Rings(t, 120, 2, 1)
	set, err := links.SampleByCount(labels, 20, 20, 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, pairs := t.Context(), [][2]int{{0, 1}, {2, 7}, {3, 9}, {119, 5}}
	for name, l := range variants() {
		distances := func(workers int, gamma []float64) [][]float64 {
			eng := enginetest.New(t, workers)
			path, err := l.FitPath(ctx, eng, x, set)
			if err != nil {
				t.Fatal(err)
			}
			d, err := path.Distances(ctx, eng, x, pairs, gamma)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		turned := slices.Clone(grid)
		slices.Reverse(turned)
		want, got := distances(1, grid), distances(3, turned)
		for at := range grid {
			if !slices.Equal(got[len(grid)-1-at], want[at]) {
				t.Errorf("%s, gamma = %g: distances %v in another order and on three workers, %v", name,
					grid[at], got[len(grid)-1-at], want[at])
			}
		}
	}
}

// TestPathIsWarm checks that the projections of a path take fewer sweeps than those of separate
// fits.
func TestPathIsWarm(t *testing.T) {
	x, labels, _ := enginetest.Rings(t, 80, 2, 1)
	set, err := links.SampleByCount(labels, 15, 15, 1)
	if err != nil {
		t.Fatal(err)
	}
	eng, gamma := enginetest.New(t, 0), []float64{8, 4, 2, 1, 0.5, 0.25}
	for name, l := range variants() {
		l.Params.MaxIter = 2000
		found := &warm{}
		sweeps := func(w *warm) int {
			f := begin(l.Params, l.Begin(eng, x, set))
			f.warm = w
			if _, err := f.model(t.Context()); err != nil {
				t.Fatal(err)
			}
			return f.sweeps
		}
		onPath, alone := 0, 0
		for _, v := range gamma {
			l.Params.Gamma = v
			found = found.next()
			onPath, alone = onPath+sweeps(found), alone+sweeps(nil)
		}
		t.Logf("%s: %d sweeps on the path, %d in fits", name, onPath, alone)
		if onPath >= alone {
			t.Errorf("%s: %d sweeps on the path, %d in fits", name, onPath, alone)
		}
	}
}

func TestPathErrors(t *testing.T) {
	x, labels, _ := enginetest.Rings(t, 40, 2, 1)
	set, err := links.SampleByCount(labels, 5, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, eng, l := t.Context(), enginetest.New(t, 1), Learner{Params: DefaultParams()}
	path, err := l.FitPath(ctx, eng, x, set)
	if err != nil {
		t.Fatal(err)
	}
	var param *fault.ParamError
	if _, err := path.Distances(ctx, eng, x, nil, []float64{1, -1}); !errors.As(err, &param) ||
		param.Param != "gamma" {
		t.Errorf("gamma = -1: %v", err)
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := path.Distances(stopped, eng, x, nil, []float64{1}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	l.Params.Tol = 0
	if _, err := l.FitPath(ctx, eng, x, set); !errors.As(err, &param) {
		t.Errorf("tol = 0: %v", err)
	}
	var _ algorithms.PathLearner = l
}
