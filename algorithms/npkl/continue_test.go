package npkl

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/internal/racetest"
)

// TestAddLinks checks that adding links to a model that was read from its file leads to the optimum
// of a fit of all links.
func TestAddLinks(t *testing.T) { propertytest.Check(t, addLinksProperty) }

func addLinksProperty(t *rapid.T) {
	n := rapid.IntRange(20, 60).Draw(t, "n")
	x, labels, set := enginetest.Blobs(t, n, 3, rapid.IntRange(3, 12).Draw(t, "pairs"),
		rapid.Uint64().Draw(t, "seed"))
	more, err := links.SampleByCount(labels, 3, 4, rapid.Uint64().Draw(t, "more"))
	if err != nil {
		t.Fatal(err)
	}
	l := Learner{Params: DefaultParams()}
	l.Params.Tol, l.Params.MaxIter = 1e-9, 20000
	l.Params.Plan = rapid.SampledFrom([]Plan{Whole, Boundary}).Draw(t, "plan")
	f := &model.File{}
	if err := fittest.Fit[*Model](t, l, x, set).Encode(f); err != nil {
		t.Fatal(err)
	}
	m, err := Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	ctx, eng := context.Background(), enginetest.New(t, 0)
	added, err := m.AddLinks(ctx, eng, x, more)
	if err != nil {
		t.Fatal(err)
	}
	got := added.(*Model)
	all, err := input.AddedLinks(eng, Method, x, m.links, more)
	if err != nil {
		t.Fatal(err)
	}
	want := fittest.Fit[*Model](t, l, x, all)
	if !got.Certified() || !want.Certified() ||
		math.Abs(got.Objective()-want.Objective()) > 1e-7*want.Objective() {
		t.Fatalf("objective %.12g, %q; of a fit with all links %.12g, %q", got.Objective(),
			got.Status().Message, want.Objective(), want.Status().Message)
	}
}

// TestAddLinksIsWarm checks that adding a few links takes fewer sweeps than a fit of all links from
// scratch.
func TestAddLinksIsWarm(t *testing.T) {
	x, labels := clouds(racetest.Fewer(1500), 5, 4)
	set := enginetest.Drawn(t, labels, racetest.Fewer(700), racetest.Fewer(700), 1)
	few, err := links.SampleByCount(labels, 3, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	m := fittest.Fit[*Model](t, Learner{Params: DefaultParams()}, x, set)
	added, err := m.AddLinks(context.Background(), enginetest.New(t, 0), x, few)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := added.Status().Iterations, m.Status().Iterations; a >= b {
		t.Errorf("%d sweeps for six more links: want fewer than the %d of the fit", a, b)
	}
}

func TestAddLinksRejects(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 30, 3, 5, 1)
	ctx, eng := context.Background(), enginetest.New(t, 0)
	m := fittest.Fit[*Model](t, Learner{Params: DefaultParams()}, x, set)
	first := set.Must()[0]
	first.Sign = links.Cannot
	against, err := links.New(30, []links.Link{first})
	if err != nil {
		t.Fatal(err)
	}
	given := Learner{Params: DefaultParams(), Similarities: similarities(x)}
	given.Params.Graph = Given
	for name, c := range map[string]struct {
		m   algorithms.Linker
		x   points.Points
		set *links.Set
	}{
		"other points":       {m, x.Select([]int{1, 2, 3}), set},
		"contradiction":      {m, x, against},
		"given similarities": {fittest.Fit[*Model](t, given, x, set), x, set},
	} {
		if _, err := c.m.AddLinks(ctx, eng, c.x, c.set); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
}
