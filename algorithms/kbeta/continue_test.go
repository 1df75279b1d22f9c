package kbeta_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/kbeta"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// reread writes a model to a file and returns the model read from it, and the rows of its
// landmarks.
func reread(t enginetest.Fataler, m algorithms.Model) (*kbeta.Model, []int) {
	t.Helper()
	f := &model.File{}
	if err := m.Encode(f); err != nil {
		t.Fatal(err)
	}
	wide, err := f.Int64s("kbeta.rows", -1)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]int, len(wide))
	for p, i := range wide {
		rows[p] = int(i)
	}
	return enginetest.Reread(t, m, kbeta.Decode), rows
}

// linked returns links of random sign between some of the rows, at most one for each pair.
func linked(rows []int, count int, seed uint64) []links.Link {
	rng := rand.New(rand.NewPCG(seed, 6))
	seen, out := map[[2]int]bool{}, []links.Link(nil)
	for range count {
		i, j := rows[rng.IntN(len(rows))], rows[rng.IntN(len(rows))]
		if i == j || seen[[2]int{min(i, j), max(i, j)}] {
			continue
		}
		seen[[2]int{min(i, j), max(i, j)}] = true
		l := links.NewLink(i, j, links.Must)
		if rng.IntN(3) == 0 {
			l.Sign = links.Cannot
		}
		l.Weight = 1 + float64(rng.IntN(2))
		out = append(out, l)
	}
	return out
}

func wantSameModel(t enginetest.Fataler, eng *engine.Engine, got, want *kbeta.Model, x points.Points) {
	t.Helper()
	mu, beta, d := got.Spectrum()
	wantMu, wantBeta, wantD := want.Spectrum()
	if !slices.Equal(mu, wantMu) || !slices.Equal(beta, wantBeta) || !slices.Equal(d, wantD) ||
		!slices.Equal(got.DistantMustLinks(), want.DistantMustLinks()) {
		t.Fatal("the weights differ from those of a fit", beta, wantBeta)
	}
	a, errA := got.Embed(context.Background(), eng, x)
	b, errB := want.Embed(context.Background(), eng, x)
	if errA != nil || errB != nil || !slices.Equal(a.Data, b.Data) {
		t.Fatal("the coordinates differ from those of a fit", errA, errB)
	}
}

// TestAddLinks checks that adding links to a model that was read from its file, in one step or two,
// is bit-identical to a fit of all links with its landmarks.
func TestAddLinks(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(20, 80).Draw(rt, "n")
		x, _ := blobs(t, n, 1)
		ctx, eng := context.Background(), enginetest.New(t, 2)
		l := kbeta.Learner{Params: kbeta.DefaultParams(), Seed: rapid.Uint64().Draw(rt, "seed")}
		l.Params.Landmarks = rapid.SampledFrom([]int{0, n / 2}).Draw(rt, "landmarks")
		l.Params.Cannot = rapid.SampledFrom([]float64{0, 0.5}).Draw(rt, "cannot")
		l.Params.RegD = rapid.SampledFrom([]float64{0, 1e-6, 0.1}).Draw(rt, "reg_d")
		first, err := l.Fit(ctx, eng, x,
			enginetest.Links(rt, n,
				[]links.Link{links.NewLink(0, 1, links.Must), links.NewLink(2, 5, links.Cannot)}))
		if err != nil {
			rt.Fatal(err)
		}
		got, rows := reread(rt, first)
		list := []links.Link{links.NewLink(0, 1, links.Must), links.NewLink(2, 5, links.Cannot)}
		for _, link := range linked(rows, rapid.IntRange(2, 30).Draw(rt, "links"),
			rapid.Uint64().Draw(rt, "which")) {
			if pair := [2]int{min(link.I, link.J), max(link.I, link.J)}; pair != [2]int{0, 1} &&
				pair != [2]int{2, 5} {
				list = append(list, link)
			}
		}
		cut := rapid.IntRange(1, len(list)).Draw(rt, "cut")
		// the first part repeats a link of the model
		for _, part := range [][]links.Link{list[:cut], list[cut:]} {
			if len(part) == 0 {
				continue
			}
			added, err := got.AddLinks(ctx, eng, x, enginetest.Links(rt, n, part))
			if err != nil {
				rt.Fatal(err)
			}
			got, _ = reread(rt, added)
		}
		l.Params.LandmarkRows = rows
		want, err := l.Fit(ctx, eng, x, enginetest.Links(rt, n, list))
		if err != nil {
			rt.Fatal(err)
		}
		wantSameModel(rt, eng, got, want.(*kbeta.Model), x)
	})
}

func TestAddLinksRejects(t *testing.T) {
	const n = 40
	x, set := blobs(t, n, 12)
	eng, ctx := enginetest.New(t, 1), context.Background()
	all := fit(t, eng, x, set, "", nil)
	few := fit(t, eng, x, set, "", func(p *kbeta.Params) { p.Landmarks = 25 })
	_, rows := reread(t, few)
	outside := 0
	for slices.Contains(rows, outside) {
		outside++
	}
	old := &model.File{}
	if err := all.Encode(old); err != nil {
		t.Fatal(err)
	}
	delete(old.Tensors, "kbeta.rows")
	before, err := kbeta.Decode(old)
	if err != nil {
		t.Fatal(err)
	}
	against := set.Must()[0]
	against.Sign = links.Cannot
	for name, c := range map[string]struct {
		m    *kbeta.Model
		x    points.Points
		set  *links.Set
		word string
	}{
		"fewer points": {all, x.Select([]int{1, 2, 3}),
			enginetest.Links(t, 3, []links.Link{links.NewLink(0, 1, links.Must)}), "40"},
		"other rows": {all, x, enginetest.Links(t, 41, []links.Link{links.NewLink(0, 40, links.Must)}),
			"41"},
		"contradiction": {all, x, enginetest.Links(t, n, []links.Link{against}), "must"},
		"no links":      {all, x, enginetest.Links(t, n, nil), "want at least one"},
		"no landmark": {few, x,
			enginetest.Links(t, n, []links.Link{links.NewLink(rows[0], outside, links.Must)}), "landmarks"},
		"old file": {before, x, set, "want a fit with all links"},
	} {
		if _, err := c.m.AddLinks(ctx, eng, c.x, c.set); !fault.IsInput(err) ||
			!strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: error %v, want one of the input with %q", name, err, c.word)
		}
	}
	if _, err := few.AddLinks(ctx, eng, x,
		enginetest.Links(t, n, []links.Link{links.NewLink(rows[0], outside, links.Cannot)})); err != nil {
		t.Errorf("a cannot-link, which is ignored: %v", err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := all.AddLinks(done, eng, x, set); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
	fittest.Spoiled(t, all, kbeta.Decode, map[string]func(f *model.File){
		"rows":      func(f *model.File) { f.SetInt64s("kbeta.rows", []int64{1, 2}) },
		"unsorted":  func(f *model.File) { f.SetInt64s("kbeta.rows", slices.Repeat([]int64{1}, n)) },
		"outside":   func(f *model.File) { f.SetInt64s("kbeta.rows", slices.Repeat([]int64{n}, n)) },
		"links":     func(f *model.File) { f.SetInt64s("kbeta.links", []int64{0, n}, 1, 2) },
		"weights":   func(f *model.File) { f.SetFloat64s("kbeta.weights", []float64{0}) },
		"no links":  func(f *model.File) { delete(f.Tensors, "kbeta.links") },
		"no points": func(f *model.File) { f.Header.Extra["kbeta"] = []byte(`{"input_dim":2}`) },
	})
}
