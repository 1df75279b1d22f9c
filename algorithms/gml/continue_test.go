package gml

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// wantSame compares the distances of two models for some pairs of points, relative to the largest
// distance.
func wantSame(t enginetest.Fataler, what string, got, want *Model, x *points.Dense, tolerance float64) {
	t.Helper()
	var pairs [][2]int
	for i := range x.N {
		pairs = append(pairs, [2]int{i, (i*7 + 1) % x.N})
	}
	ctx, eng := context.Background(), enginetest.New(t, 0)
	a, err := got.Distances(ctx, eng, x, pairs)
	if err != nil {
		t.Fatal(err)
	}
	b, err := want.Distances(ctx, eng, x, pairs)
	if err != nil {
		t.Fatal(err)
	}
	for k := range a {
		if !(math.Abs(a[k]-b[k]) <= tolerance*slices.Max(b)) {
			t.Fatal(fmt.Sprintf("%s: pair %v is %.12g apart, want %.12g", what, pairs[k], a[k], b[k]))
		}
	}
}

// without returns the model without its multipliers. It requests as many new directions as there
// are, because the stored directions belong to the multipliers.
func without(m *Model) *Model {
	cold, warm := *m, *m.warm
	warm.Multipliers = make([]float64, len(warm.Multipliers))
	all := m.Params()
	all.Dims = 1000
	cold.warm, cold.Traced = &warm, fitted.NewTraced(m.Map, all, m.Status(), m.Trace())
	return &cold
}

// TestAddLinks checks that adding links to a model that was read from its file leads to the optimum
// for the prior that the model learned: the optimality conditions hold, the distances are those of
// projections that begin without multipliers, and with outer = 1 those of a fit of all links.
func TestAddLinks(t *testing.T) { propertytest.Check(t, addLinksProperty) }

func addLinksProperty(t *rapid.T) {
	// near is relative to the largest distance: with multipliers in the thousands, a residual of
	// 1e-7 can leave errors of this size.
	const near = 1e-3
	n := rapid.IntRange(30, 60).Draw(t, "n")
	x, _, _ := enginetest.Rings(t, n, 2, rapid.Uint64().Draw(t, "points"))
	list := enginetest.Mixed(n, 2, rapid.IntRange(4, 20).Draw(t, "links"), rapid.Uint64().Draw(t, "seed"))
	all := variants()
	l := all[rapid.SampledFrom([]string{"rbf", "spectral", "datadep", "lle", "nystrom",
		"normalized nystrom"}).Draw(t, "variant")]
	if rapid.Bool().Draw(t, "on a kernel") && l.Params.Prior == RBF {
		l.Kernel, _ = kernel.Parse("poly:degree=2,coef=1,scale=0.1")
	}
	l.Params.Gamma = rapid.SampledFrom([]float64{0.3, 1, 3}).Draw(t, "gamma")
	l.Params.Outer = rapid.IntRange(1, 3).Draw(t, "outer")
	l.Params.Rank, l.Params.Tol, l.Params.MaxIter = 8, 1e-10, 3000
	if rapid.Bool().Draw(t, "triplets") {
		l.Triplets = []links.Triplet{{I: 0, J: 2, K: 1}, {I: 5, J: 9, K: 4}}
	}
	first := rapid.IntRange(1, len(list)-1).Draw(t, "first")
	ctx, eng := context.Background(), enginetest.New(t, 0)
	m := enginetest.Reread(t, fittest.Fit[*Model](t, l, x, enginetest.Links(t, n, list[:first])), Decode)
	add := func(m *Model, list []links.Link) *Model {
		added, err := m.AddLinks(ctx, eng, x, enginetest.Links(t, n, list))
		if err != nil {
			t.Fatal(err)
		}
		return enginetest.Reread(t, added, Decode)
	}
	got := add(m, list[1:]) // some of these are already links of the model
	if got.Params() != m.Params() || got.about.Bounds != m.about.Bounds ||
		!slices.Equal(got.weights, m.weights) || got.Kernel().Spec() != m.Kernel().Spec() ||
		got.about.Alpha != m.about.Alpha {
		t.Fatalf("another prior or other bounds: %+v, %+v", got.about, m.about)
	}
	want := add(without(m), list)
	if !got.Status().Converged && want.Status().Converged || !(got.Residual() <= 1e-7+10*want.Residual()) {
		t.Fatalf("status %+v, residual %g, without multipliers %g", got.Status(), got.Residual(),
			want.Residual())
	}
	if !want.Status().Converged || want.Residual() > 1e-7 {
		// The weights of eigenvectors, or the multipliers, differ by so much that rounding leaves
		// no correct digit in either result.
		return
	}
	if !(math.Abs(got.Objective()-want.Objective()) <= 1e-8*max(1, want.Objective())) {
		t.Fatalf("objective %.12g, without multipliers %.12g", got.Objective(), want.Objective())
	}
	wantSame(t, "without multipliers", got, want, x, near)
	if l.Params.Outer == 1 {
		wantSame(t, "a fit of all links", got, fittest.Fit[*Model](t, l, x, enginetest.Links(t, n, list)), x,
			near)
	}
	// Two steps give the same result as one.
	wantSame(t, "step by step", add(add(m, list[first:first+1]), list), got, x, near)
}

// TestAddLinksIsWarm checks that adding a few links takes fewer sweeps than all links without
// multipliers, and that the result is bit-identical for any number of workers.
func TestAddLinksIsWarm(t *testing.T) {
	x, labels, set := enginetest.Rings(t, 150, 40, 1)
	few, err := links.SampleByCount(labels, 3, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for name, l := range variants() {
		l.Params.Tol, l.Params.MaxIter = 1e-6, 10000
		m := fittest.Fit[*Model](t, l, x, set)
		sweeps := func(m *Model) int {
			f, err := m.more(enginetest.New(t, 0), x, few)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.model(ctx); err != nil {
				t.Fatal(err)
			}
			return f.last.Sweeps
		}
		if warm, cold := sweeps(m), sweeps(without(m)); warm >= cold {
			t.Errorf("%s: %d sweeps for six more links, %d without multipliers", name, warm, cold)
		}
		var first []float64
		for _, workers := range []int{1, 3} {
			added, err := m.AddLinks(ctx, enginetest.New(t, workers), x, few)
			if err != nil {
				t.Fatal(err)
			}
			d, err := added.Distances(ctx, enginetest.New(t, 0), x, [][2]int{{0, 1}, {3, 120}, {17, 88}})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = d
			}
			if !slices.Equal(first, d) {
				t.Errorf("%s: distances %v with %d workers, %v with one", name, d, workers, first)
			}
		}
	}
}

func TestAddLinksRejects(t *testing.T) {
	x, _, set := enginetest.Rings(t, 40, 8, 1)
	ctx, eng := context.Background(), enginetest.New(t, 0)
	against := set.Must()[0]
	against.Sign = links.Cannot
	given := of(DataDep)
	given.Params.Graph = graphkernel.Given
	given.Similarities = blas.NewMatrix(x.N, x.N)
	for i := range x.N {
		for j := range x.N {
			given.Similarities.Set(i, j, max(0, 1-points.SquaredDistance(x.Row(i), x.Row(j))/4))
		}
	}
	for name, l := range variants() {
		m := fittest.Fit[*Model](t, l, x, set)
		old, other := *m, *m
		old.warm = nil
		warm := *m.warm
		warm.Multipliers = slices.Repeat([]float64{1e12}, len(warm.Multipliers))
		other.warm = &warm
		for what, c := range map[string]struct {
			m    *Model
			x    points.Points
			set  *links.Set
			word string
		}{
			"fewer points": {m, x.Select([]int{1, 2, 3}),
				enginetest.Links(t, 3, enginetest.Mixed(3, 2, 5, 1)), "40"},
			"other rows": {m, x,
				enginetest.Links(t, 41, []links.Link{links.NewLink(0, 40, links.Must)}), "41"},
			"contradiction": {m, x, enginetest.Links(t, 40, []links.Link{against}), "must"},
			"no links":      {m, x, enginetest.Links(t, 40, nil), "want at least one"},
			"old file":      {enginetest.Reread(t, &old, Decode), x, set, "want a fit with all links"},
			"given": {enginetest.Reread(t, fittest.Fit[*Model](t, given, x, set), Decode), x, set,
				"want a fit with all links"},
			"other multipliers": {&other, x, set, "do not fit these points"},
		} {
			if _, err := c.m.AddLinks(ctx, eng, c.x, c.set); !fault.IsInput(err) ||
				!strings.Contains(err.Error(), c.word) {
				t.Errorf("%s, %s: error %v, want one of the input with %q", name, what, err, c.word)
			}
		}
		done, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := m.AddLinks(done, eng, x, set); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, canceled: error %v", name, err)
		}
	}
}

// TestFactorInFile checks that a wrong factor of the spectral prior in a file is refused, and that
// a model without one accepts no new links.
func TestFactorInFile(t *testing.T) {
	x, _, set := enginetest.Rings(t, 60, 20, 5)
	m := fittest.Fit[*Model](t, of(Spectral), x, set)
	r := m.Dim()
	for name, data := range map[string][]float64{"zeros": make([]float64, r*r),
		"NaN": slices.Repeat([]float64{math.NaN()}, r*r), "small": {1}} {
		f := &model.File{}
		if err := m.Encode(f); err != nil {
			t.Fatal(err)
		}
		side := r
		if len(data) == 1 {
			side = 1
		}
		f.SetFloat64s(tensorFactor, data, side, side)
		if _, err := Decode(f); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	f := &model.File{}
	if err := m.Encode(f); err != nil {
		t.Fatal(err)
	}
	delete(f.Tensors, tensorFactor)
	back, err := Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := back.AddLinks(context.Background(), enginetest.New(t, 0), x, set); !fault.IsInput(err) {
		t.Errorf("no factor: error %v, want one of the input", err)
	}
}
