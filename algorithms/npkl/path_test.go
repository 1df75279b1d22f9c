package npkl

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/internal/racetest"
)

// TestPathIsTheFits checks that every C on the path has the certified optimum of a separate fit:
// the same objective and distances, from weights whose best kernel is 0 to weights that satisfy
// every link.
func TestPathIsTheFits(t *testing.T) {
	values := []float64{30, 0.01, 1, 3, 1, 100}
	propertytest.CheckSome(t, 25, func(rt *rapid.T) {
		n := rapid.IntRange(20, 60).Draw(rt, "n")
		x, _, set := enginetest.Blobs(t, n, 3, rapid.IntRange(3, 12).Draw(rt, "pairs"),
			rapid.Uint64().Draw(rt, "seed"))
		l := Learner{Params: DefaultParams()}
		l.Params.Tol, l.Params.MaxIter = 1e-9, 20000
		l.Params.Loss = rapid.SampledFrom([]Loss{Square, SquaredHinge}).Draw(rt, "loss")
		l.Params.Plan = rapid.SampledFrom([]Plan{Whole, Boundary}).Draw(rt, "plan")
		ctx, eng := context.Background(), enginetest.New(t, 0)
		path, err := l.FitPath(ctx, eng, x, set)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := path.(*Path).Models(ctx, eng, values)
		if err != nil {
			rt.Fatal(err)
		}
		if got[2] != got[4] {
			rt.Fatal("the same value was fitted twice")
		}
		for at, c := range values {
			l.Params.C = c
			want := fittest.Fit[*Model](t, l, x, set)
			if got[at].Params() != l.Params {
				rt.Fatalf("parameters %+v, want %+v", got[at].Params(), l.Params)
			}
			if !got[at].Certified() || !want.Certified() ||
				!(math.Abs(got[at].Objective()-want.Objective()) <= 1e-6*want.Objective()) {
				rt.Fatalf("C = %g: objective %.12g, %q; of a separate fit %.12g, %q", c, got[at].Objective(),
					got[at].Status().Message, want.Objective(), want.Status().Message)
			}
		}
	})
}

// TestPathDistances checks that the distances do not depend on the order of the values or the
// number of workers, bit for bit, and that they are the distances of the models and close to those
// of fits.
func TestPathDistances(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 150, 3, 30, 1)
	l := Learner{Params: DefaultParams()}
	l.Params.Tol = 1e-9
	ctx := context.Background()
	pairs := [][2]int{{0, 1}, {2, 7}, {3, 9}, {149, 5}}
	values := []float64{0.3, 1, 3, 10}
	distances := func(workers int, values []float64) [][]float64 {
		eng := enginetest.New(t, workers)
		path, err := l.FitPath(ctx, eng, x, set)
		if err != nil {
			t.Fatal(err)
		}
		d, err := path.Distances(ctx, eng, x, pairs, values)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	want := distances(1, values)
	turned := slices.Clone(values)
	slices.Reverse(turned)
	got := distances(3, turned)
	for at, c := range values {
		if !slices.Equal(got[len(values)-1-at], want[at]) {
			t.Errorf("C = %g: distances %v in another order and on three workers, %v", c,
				got[len(values)-1-at], want[at])
		}
		l.Params.C = c
		alone, err := fittest.Fit[*Model](t, l, x, set).Distances(ctx, enginetest.New(t, 0), x, pairs)
		if err != nil {
			t.Fatal(err)
		}
		for p, d := range alone {
			if !(math.Abs(want[at][p]-d) <= 1e-5*slices.Max(alone)) {
				t.Errorf("C = %g: distances %v, of a fit %v", c, want[at], alone)
				break
			}
		}
	}
}

// TestPathIsWarm checks that the path takes fewer sweeps than separate fits.
func TestPathIsWarm(t *testing.T) {
	x, labels := clouds(racetest.Fewer(700), 5, 4)
	set := enginetest.Drawn(t, labels, racetest.Fewer(150), racetest.Fewer(150), 1)
	ctx, eng := context.Background(), enginetest.New(t, 0)
	l := Learner{Params: DefaultParams()}
	path, err := l.FitPath(ctx, eng, x, set)
	if err != nil {
		t.Fatal(err)
	}
	values := []float64{0.5, 0.7, 1, 1.4, 2, 2.8, 4}
	models, err := path.(*Path).Models(ctx, eng, values)
	if err != nil {
		t.Fatal(err)
	}
	warm, cold := 0, 0
	for at, c := range values {
		l.Params.C = c
		warm, cold = warm+models[at].Status().Iterations,
			cold+fittest.Fit[*Model](t, l, x, set).Status().Iterations
	}
	t.Logf("%d sweeps on the path, %d in fits", warm, cold)
	if warm >= cold {
		t.Errorf("%d sweeps on the path, %d in fits", warm, cold)
	}
}

func TestPathMistakes(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 1)
	x, _, set := enginetest.Blobs(t, 30, 3, 5, 1)
	l := Learner{Params: DefaultParams()}
	path, err := l.FitPath(ctx, eng, x, set)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := path.Distances(ctx, eng, x, [][2]int{{0, 1}}, []float64{1, c}); !fault.IsInput(err) {
			t.Errorf("C = %g: error %v, want one of the input", c, err)
		}
	}
	if _, err := path.Distances(ctx, eng, x, [][2]int{{0, 30}}, []float64{1}); !fault.IsInput(err) {
		t.Errorf("a row out of range: error %v", err)
	}
	none, err := links.New(30, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.FitPath(ctx, eng, x, none); !fault.IsInput(err) {
		t.Errorf("no links: error %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := l.FitPath(ended, eng, x, set); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
	if _, err := path.Distances(ended, eng, x, [][2]int{{0, 1}}, []float64{1}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
	for _, change := range []func(l *Learner){func(l *Learner) { l.Params.Loss = Hinge },
		func(l *Learner) { l.Params.Rank = 2 }} {
		other := l
		change(&other)
		if name, value := other.PathValue(); name != "C" || value != 0 {
			t.Errorf("%+v is on a path of %s at %g", other.Params, name, value)
		}
	}
}
