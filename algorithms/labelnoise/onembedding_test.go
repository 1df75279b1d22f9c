package labelnoise

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// bands returns n points of two groups, with links.
func bands(t *testing.T, n int) (*points.Dense, *links.Set) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	x := &points.Dense{N: n, D: 4, Data: make([]float64, 4*n)}
	for i := range x.Data {
		x.Data[i] = r.NormFloat64()
	}
	for i := 0; i < n; i += 2 {
		x.Data[4*i] += 5
	}
	set, err := links.New(n, []links.Link{
		links.NewLink(0, 2, links.Must), links.NewLink(4, 6, links.Must), links.NewLink(1, 3, links.Must),
		links.NewLink(5, 7, links.Must),
		links.NewLink(0, 1, links.Cannot), links.NewLink(4, 7, links.Cannot),
	})
	if err != nil {
		t.Fatal(err)
	}
	return x, set
}

// A stacked learner returns the distances of its first metric and those of the second one, fitted
// on the embedding of the first, for training points and for new ones.
func TestOnEmbedding(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 2)
	x, set := bands(t, 40)
	fresh, _ := bands(t, 12)
	metric, err := defaultMetric("itml", 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := metricNames(metric), Metrics()[:2]; !slices.Equal(got, want) {
		t.Errorf("metrics %q, want %q", got, want)
	}
	fit := func(l algorithms.Learner, x points.Points) algorithms.Model {
		t.Helper()
		m, err := l.Fit(ctx, eng, x, set)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	embedded := func(m algorithms.Model, x points.Points) *points.Dense {
		t.Helper()
		y, err := embed(ctx, eng, m, x)
		if err != nil {
			t.Fatal(err)
		}
		return y
	}
	both := fittedMetrics(fit(metric, x))
	first := fit(metric.(stacked).Learner, x)
	second := fit(metric.(stacked).onEmbedding, embedded(first, x))
	pairs := [][2]int{{0, 1}, {2, 6}, {3, 5}}
	for name, p := range map[string]*points.Dense{"of the fit": x, "others": fresh} {
		for k, by := range []struct {
			m algorithms.Model
			x *points.Dense
		}{{first, p}, {second, embedded(first, p)}} {
			want, err := by.m.Distances(ctx, eng, by.x, pairs)
			if err != nil {
				t.Fatal(err)
			}
			got, err := both[k].distances(ctx, eng, p, pairs)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("metric %d, points %s: %v, by hand %v (%v)", k+1, name, got, want, err)
			}
		}
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := metric.Fit(stopped, eng, x, set); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// Ten points are too few for the ten neighbors of npkl; the first metric is used alone.
func TestSecondMetricFails(t *testing.T) {
	x, set := bands(t, 10)
	metric, err := defaultMetric("itml", 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Rank(context.Background(), enginetest.New(t, 2), x, set,
		Options{Metrics: []algorithms.Learner{metric}, Folds: 2, Repetitions: 1, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Metrics, []string{"itml"}) || len(r.Notices) != 1 || r.Fits != 4 {
		t.Errorf("metrics %q, notices %q, %d fits: want itml, one notice, 4 fits", r.Metrics, r.Notices,
			r.Fits)
	}
}

// interrupted cancels the context after its fit.
type interrupted struct {
	algorithms.Learner
	cancel context.CancelFunc
}

func (l interrupted) Fit(ctx context.Context, eng *engine.Engine, x points.Points,
	set *links.Set) (algorithms.Model, error) {
	defer l.cancel()
	return l.Learner.Fit(ctx, eng, x, set)
}

// A context that is canceled at the end of a fit gives either a model or an error.
func TestLateCancel(t *testing.T) {
	x, set := bands(t, 40)
	metric, err := defaultMetric("itml", 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	late := metric.(stacked)
	late.onEmbedding = interrupted{late.onEmbedding, cancel}
	m, err := late.Fit(ctx, enginetest.New(t, 1), x, set)
	if (m == nil) == (err == nil) {
		t.Errorf("model %v, error %v: want one of them", m, err)
	}
	if _, err := Rank(ctx, enginetest.New(t, 2), x, set,
		Options{Metrics: []algorithms.Learner{metric}, Folds: 2, Repetitions: 1, Rounds: 1}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}
