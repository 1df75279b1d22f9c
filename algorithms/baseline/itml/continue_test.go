package itml

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// randomLinks returns links between points of three classes (row modulo 3). A fifth of them are
// mislabeled, and some have their own bound.
func randomLinks(n, count int, seed uint64) []links.Link {
	rng := rand.New(rand.NewPCG(seed, 5))
	out := enginetest.Mixed(n, 3, count, seed)
	for k := range out {
		if rng.IntN(5) == 0 {
			out[k].Bound = 0.5 + rng.Float64()
		}
	}
	return out
}

// TestAddLinks checks that adding links to a model that was read from its file, in one step or two,
// leads to the optimum of a fit of all links: the same optimality conditions hold, at the same
// bounds, and all distances are the same.
func TestAddLinks(t *testing.T) { propertytest.Check(t, addLinksProperty) }

func addLinksProperty(t *rapid.T) {
	n := rapid.IntRange(20, 60).Draw(t, "n")
	x, _, _ := enginetest.Bands(t, n, 3, 2, rapid.Uint64().Draw(t, "points"))
	list := randomLinks(n, rapid.IntRange(3, 30).Draw(t, "links"), rapid.Uint64().Draw(t, "seed"))
	l := Learner{Params: DefaultParams(), Seed: rapid.Uint64().Draw(t, "fit")}
	l.Params.Gamma = rapid.SampledFrom([]float64{0.1, 1, 10}).Draw(t, "gamma")
	l.Params.Tol, l.Params.MaxIter = 1e-12, 3000
	switch rapid.IntRange(0, 2).Draw(t, "mode") {
	case 1:
		l.Params.Prior = Covariance
	case 2:
		l.Kernel, _ = kernel.Parse("rbf:sigma=mean")
	}
	if rapid.Bool().Draw(t, "triplets") {
		l.Triplets = []links.Triplet{{I: 0, J: 3, K: 1}, {I: 5, J: 8, K: 4}}
	}
	first, second := rapid.IntRange(1, len(list)).Draw(t, "first"),
		rapid.IntRange(0, len(list)).Draw(t, "second")
	second = max(first, second)
	ctx, eng := context.Background(), enginetest.New(t, 0)
	got := enginetest.Reread(t, fittest.Fit[*Model](t, l, x, enginetest.Links(t, n, list[:first])), Decode)
	// the first part repeats links of the model
	for _, part := range [][]links.Link{list[:second], list[second:]} {
		if len(part) == 0 {
			continue
		}
		added, err := got.AddLinks(ctx, eng, x, enginetest.Links(t, n, part))
		if err != nil {
			t.Fatal(err)
		}
		got = enginetest.Reread(t, added, Decode)
	}
	want := fittest.Fit[*Model](t, l, x, enginetest.Links(t, n, list))
	if got.Params() != want.Params() || got.about.Bounds != want.about.Bounds ||
		got.about.Skipped != want.about.Skipped {
		t.Fatalf("parameters %+v, %+v: want %+v, %+v", got.Params(), got.about, want.Params(), want.about)
	}
	if !got.Status().Converged && want.Status().Converged || !(got.Residual() <= 1e-8+10*want.Residual()) {
		t.Fatalf("status %+v, residual %g, of a fit %g", got.Status(), got.Residual(), want.Residual())
	}
	if !want.Status().Converged || want.Residual() > 1e-8 {
		return // links contradict each other so much that rounding leaves no correct digit in either result
	}
	pairs := pairsOf(n)
	a, b := distances(t, got, x, pairs), distances(t, want, x, pairs)
	for k := range a {
		if !(math.Abs(a[k]-b[k]) <= 1e-4*slices.Max(b)) {
			t.Fatalf("pair %v is %.12g apart, after a fit of all links %.12g", pairs[k], a[k], b[k])
		}
	}
}

// TestAddLinksIsWarm checks that adding a few links takes fewer sweeps than a fit of all links from
// scratch, in both modes, and that the result is bit-identical for any number of workers.
func TestAddLinksIsWarm(t *testing.T) {
	x, labels, set := enginetest.Bands(t, 300, 6, 80, 1)
	few, err := links.SampleByCount(labels, 3, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "rbf:sigma=mean"} {
		l := Learner{Params: DefaultParams()}
		l.Params.Tol = 1e-6
		if text != "" {
			if l.Kernel, err = kernel.Parse(text); err != nil {
				t.Fatal(err)
			}
		}
		m := fittest.Fit[*Model](t, l, x, set)
		var first []float64
		for _, workers := range []int{1, 3} {
			added, err := m.AddLinks(context.Background(), enginetest.New(t, workers), x, few)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := added.Status().Iterations, m.Status().Iterations; a >= b {
				t.Errorf("%q: %d sweeps for six more links, the fit took %d", text, a, b)
			}
			d := distances(t, added.(*Model), x, [][2]int{{0, 1}, {3, 200}, {17, 88}})
			if first == nil {
				first = d
			}
			if !slices.Equal(first, d) {
				t.Errorf("%q: distances %v with %d workers, %v with one", text, d, workers, first)
			}
		}
	}
}

// TestRotatedDirections checks that rotated directions are as accurate as directions computed from
// scratch, compared with the learned kernel by its formula, evaluated with all points. Distances
// are those of the formula in both cases.
func TestRotatedDirections(t *testing.T) {
	turned, drawn := 0, 0
	propertytest.Check(t, func(rt *rapid.T) {
		drawn++
		n := rapid.IntRange(100, 120).Draw(rt, "n")
		x, _, _ := enginetest.Bands(rt, n+20, 4, 2, rapid.Uint64().Draw(rt, "points"))
		known := x.Select(rows(n)).(*points.Dense)
		list := randomLinks(n, rapid.IntRange(8, 20).Draw(rt, "links"), rapid.Uint64().Draw(rt, "seed"))
		l := Learner{Params: DefaultParams(),
			Lesson: algorithms.Lesson{Triplets: []links.Triplet{{I: 0, J: 3, K: 1}}}}
		l.Params.Gamma = rapid.SampledFrom([]float64{0.1, 1, 10}).Draw(rt, "gamma")
		l.Kernel, _ = kernel.Parse("rbf:sigma=mean")
		m := fittest.Fit[*Model](rt, l, known, enginetest.Links(rt, n, list[:2]))
		fresh, all := *m, m.Params()
		all.Dims = 1000 // all, but not those of m
		fresh.Model = fitted.New(m.Map, all, m.Status())
		ctx, eng := context.Background(), enginetest.New(t, 0)
		var got, exact [2][]float64
		var warm *logdetmetric.WarmStart
		for k, m := range []*Model{m, &fresh} {
			added, err := m.AddLinks(ctx, eng, known, enginetest.Links(rt, n, list[2:]))
			if err != nil {
				rt.Fatal(err)
			}
			got[k], warm = projected(rt, added.(*Model), x, pairsOf(n+20)), added.(*Model).warm
			exact[k] = distances(rt, added.(*Model), x, pairsOf(n+20))
		}
		if !slices.Equal(got[0], got[1]) {
			turned++
		}
		want := byFormula(rt, m.Kernel(), x, warm, pairsOf(n+20))
		for k := range exact {
			for p, v := range exact[k] {
				if !(math.Abs(v-want[p]) <= 1e-9*slices.Max(want)) {
					rt.Fatalf("pair %d is %.12g apart, want %.12g", p, v, want[p])
				}
			}
		}
		// pairs begin with a training point, or with a new one
		for _, part := range [][2]int{{0, n}, {n, n + 20}} {
			off := [2]float64{}
			for k := range got {
				for p := part[0]; p < part[1]; p++ {
					off[k] = max(off[k], math.Abs(got[k][p]-want[p]))
				}
			}
			if !(off[0] <= 1e-6*slices.Max(want)+10*off[1]) {
				rt.Fatalf("pairs from %d to %d are up to %g off, with directions computed from scratch %g",
					part[0], part[1]-1, off[0], off[1])
			}
		}
	})
	if 2*turned < drawn {
		t.Errorf("directions were rotated in %d of %d problems", turned, drawn)
	}
}

// projected returns squared distances of the coordinates.
func projected(t enginetest.Fataler, m *Model, x points.Points, pairs [][2]int) []float64 {
	t.Helper()
	y, err := m.Embed(context.Background(), enginetest.New(t, 0), x)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, len(pairs))
	for p, pair := range pairs {
		out[p] = points.SquaredDistance(y.Row(pair[0]), y.Row(pair[1]))
	}
	return out
}

// byFormula returns squared distances of the learned kernel k0 - k0 (K0 + P^-1)^-1 k0 = k0 - k0 (I
// + P K0)^-1 P k0 for the signed multipliers P.
func byFormula(t enginetest.Fataler, k kernel.Kernel, x *points.Dense, warm *logdetmetric.WarmStart,
	pairs [][2]int) []float64 {
	t.Helper()
	g, err := k.Gram(context.Background(), enginetest.New(t, 1), x)
	if err != nil {
		t.Fatal(err)
	}
	n := x.N
	k0, p := mat.NewDense(n, n, g.Data), mat.NewDense(n, n, nil)
	add := func(i, j int, l float64) {
		for _, at := range [][2]int{{i, i}, {j, j}} {
			p.Set(at[0], at[1], p.At(at[0], at[1])+l)
		}
		p.Set(i, j, p.At(i, j)-l)
		p.Set(j, i, p.At(j, i)-l)
	}
	all := slices.Concat(warm.Links.Must(), warm.Links.Cannot())
	for at, l := range all {
		add(l.I, l.J, float64(l.Sign)*warm.Multipliers[at])
	}
	for at, c := range warm.Triplets {
		add(c.I, c.J, warm.Multipliers[len(all)+at])
		add(c.I, c.K, -warm.Multipliers[len(all)+at])
	}
	var a, right, inner, learned mat.Dense
	a.Mul(p, k0)
	right.CloneFrom(&a)
	for i := range n {
		a.Set(i, i, a.At(i, i)+1)
	}
	if err := inner.Solve(&a, &right); err != nil {
		t.Fatal(err)
	}
	learned.Mul(k0, &inner)
	learned.Sub(k0, &learned)
	out := make([]float64, len(pairs))
	for at, q := range pairs {
		out[at] = learned.At(q[0], q[0]) + learned.At(q[1], q[1]) - learned.At(q[0], q[1]) -
			learned.At(q[1], q[0])
	}
	return out
}

func rows(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func pairsOf(n int) (out [][2]int) {
	for i := range n {
		out = append(out, [2]int{i, (i*7 + 1) % n})
	}
	return out
}

func TestAddLinksRejects(t *testing.T) {
	x, _, set := enginetest.Bands(t, 30, 3, 8, 1)
	ctx, eng := context.Background(), enginetest.New(t, 0)
	m := fittest.Fit[*Model](t, Learner{Params: DefaultParams()}, x, set)
	against := set.Must()[0]
	against.Sign = links.Cannot
	tripled := &points.Dense{N: 30, D: 3, Data: slices.Clone(x.Data)}
	for k := range tripled.Data {
		tripled.Data[k] *= 3
	}
	old := *m
	old.warm = nil
	for name, c := range map[string]struct {
		m    *Model
		x    points.Points
		set  *links.Set
		word string
	}{
		"fewer points": {m, x.Select([]int{1, 2, 3}), enginetest.Links(t, 3, randomLinks(3, 5, 1)), "30"},
		"other rows": {m, x, enginetest.Links(t, 31, []links.Link{links.NewLink(0, 30, links.Must)}),
			"31"},
		"larger points": {m, tripled, set, "do not fit these points"},
		"contradiction": {m, x, enginetest.Links(t, 30, []links.Link{against}), "must"},
		"no links":      {m, x, enginetest.Links(t, 30, nil), "want at least one"},
		"old file":      {enginetest.Reread(t, &old, Decode), x, set, "want a fit with all links"},
	} {
		if _, err := c.m.AddLinks(ctx, eng, c.x, c.set); !fault.IsInput(err) ||
			!strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: error %v, want one of the input with %q", name, err, c.word)
		}
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := m.AddLinks(done, eng, x, set); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}

// TestWarmStartFile checks that wrong links in a file are refused.
func TestWarmStartFile(t *testing.T) {
	x, _, set := enginetest.Bands(t, 30, 3, 8, 1)
	l := Learner{Params: DefaultParams(),
		Lesson: algorithms.Lesson{Triplets: []links.Triplet{{I: 0, J: 1, K: 2}}}}
	m := fittest.Fit[*Model](t, l, x, set)
	count := set.Len() + 1
	fittest.Spoiled(t, m, Decode, map[string]func(f *model.File){
		"points": func(f *model.File) {
			f.Header.Extra[Method] = []byte(`{"upper":1,"lower":2,"points":0}`)
		},
		"fewer": func(f *model.File) {
			f.Header.Extra[Method] = []byte(`{"upper":1,"lower":2,"points":3}`)
		},
		"links":       func(f *model.File) { f.SetInt64s("itml.taught.links", []int64{0, 0}, 1, 2) },
		"weights":     func(f *model.File) { f.SetFloat64s("itml.taught.weights", []float64{1}) },
		"bounds":      func(f *model.File) { f.SetFloat64s("itml.taught.link_bounds", []float64{1}) },
		"triplets":    func(f *model.File) { f.SetInt64s("itml.taught.triplets", []int64{0, 1, 30}, 1, 3) },
		"multipliers": func(f *model.File) { f.SetFloat64s("itml.taught.multipliers", []float64{1}) },
		"NaN": func(f *model.File) {
			f.SetFloat64s("itml.taught.multipliers", slices.Repeat([]float64{math.NaN()}, count))
		},
		"negative": func(f *model.File) {
			f.SetFloat64s("itml.taught.multipliers", slices.Repeat([]float64{-1}, count))
		},
	})
	// Multipliers that belong to no matrix are found when they are used.
	f := &model.File{}
	if err := m.Encode(f); err != nil {
		t.Fatal(err)
	}
	f.SetFloat64s("itml.taught.multipliers", slices.Repeat([]float64{1e9}, count))
	back, err := Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := back.AddLinks(context.Background(), enginetest.New(t, 0), x, set); !fault.IsInput(err) {
		t.Errorf("multipliers of no matrix: error %v, want one of the input", err)
	}
}
