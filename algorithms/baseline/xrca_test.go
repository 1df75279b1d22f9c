package baseline

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// xrcaFitted fits with the defaults and a change of them.
var xrcaFitted = fittest.Changed[*XRCAModel](learner.New[XRCA], param.Default[XRCA]())

// TestXRCAMetric checks that the matrix of the metric is C^-1 S C^-1, C with eps, of the raw
// features.
func TestXRCAMetric(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		const d = 4
		x, _, set := enginetest.Bands(rt, 60, d, 30, rapid.Uint64().Draw(rt, "seed"))
		eps := rapid.SampledFrom([]float64{1e-6, 1e-2, 1}).Draw(rt, "eps")
		m := xrcaFitted(rt, func(p *XRCA) { p.EpsRel = eps }, x, set)
		c, s, rows := blas.NewMatrix(d, d), blas.NewMatrix(d, d), 0
		for _, members := range set.Chunklets() {
			mean := make([]float64, d)
			for _, i := range members {
				for k, v := range x.Row(i) {
					mean[k] += v / float64(len(members))
				}
			}
			rows += len(members)
			for _, i := range members {
				for a := range d {
					for b := range d {
						c.Set(a, b, c.At(a, b)+(x.Row(i)[a]-mean[a])*(x.Row(i)[b]-mean[b]))
					}
				}
			}
		}
		trace := 0.0
		for a := range d {
			trace += c.At(a, a) / float64(rows)
		}
		for a := range d {
			for b := range d {
				c.Set(a, b, c.At(a, b)/float64(rows))
			}
			c.Set(a, a, c.At(a, a)+eps*trace/d)
		}
		for _, l := range set.Cannot() {
			xi, xj, count := x.Row(l.I), x.Row(l.J), float64(len(set.Cannot()))
			for a := range d {
				for b := range d {
					s.Set(a, b, s.At(a, b)+(xi[a]-xj[a])*(xi[b]-xj[b])/2/count)
				}
			}
		}
		inverse, eng := enginetest.Inverse(rt, c), enginetest.New(rt, 0)
		half, want := blas.NewMatrix(d, d), blas.NewMatrix(d, d)
		eng.Backend().Gemm(false, false, 1, inverse, s, 0, half)
		eng.Backend().Gemm(false, false, 1, half, inverse, 0, want)
		w, _ := m.Transform()
		got := blas.NewMatrix(d, d)
		eng.Backend().Gemm(true, false, 1, w, w, 0, got)
		size := 0.0
		for _, v := range want.Data {
			size = max(size, math.Abs(v))
		}
		for i, v := range got.Data {
			if math.Abs(v-want.Data[i]) > 1e-8*size {
				rt.Fatalf("element %d is %g, want %g", i, v, want.Data[i])
			}
		}
		// Fewer directions are the first ones.
		if few := xrcaFitted(rt, func(p *XRCA) { p.EpsRel, p.Dims = eps, 2 }, x, set); few.Dim() != 2 {
			rt.Fatalf("%d dimensions, want 2", few.Dim())
		} else if v, _ := few.Transform(); !slices.Equal(v.Row(0), w.Row(0)) {
			rt.Fatal("the first direction is another one")
		}
	})
}

func TestXRCAModelFile(t *testing.T) {
	x, _, set := enginetest.Bands(t, 40, 4, 20, 5)
	m := xrcaFitted(t, func(*XRCA) {}, x, set)
	f := &model.File{}
	if err := m.Encode(f); err != nil {
		t.Fatal(err)
	}
	back, err := fitted.Decode[XRCA](XRCAMethod, f, fitted.ReadLinear)
	if err != nil {
		t.Fatal(err)
	}
	a, errA := m.Embed(context.Background(), enginetest.New(t, 0), x)
	b, errB := back.Embed(context.Background(), enginetest.New(t, 0), x)
	if errA != nil || errB != nil || !slices.Equal(a.Data, b.Data) {
		t.Errorf("the model that was read differs from the one that was written (%v, %v)", errA, errB)
	}
}

func TestXRCABadInput(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	x, _, set := enginetest.Bands(t, 40, 4, 20, 6)
	list := func(l ...links.Link) *links.Set {
		s, err := links.New(40, l)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	twins := &points.Dense{N: 40, D: 4, Data: slices.Clone(x.Data)}
	copy(twins.Row(1), twins.Row(0))
	nothing := func(*XRCA) {}
	for name, c := range map[string]struct {
		change func(p *XRCA)
		x      points.Points
		set    *links.Set
	}{
		"no links": {nothing, x, list()},
		"no must":  {nothing, x, list(links.NewLink(0, 1, links.Cannot))},
		"equal must": {nothing, twins,
			list(links.NewLink(0, 1, links.Must), links.NewLink(0, 2, links.Cannot))},
		"equal cannot": {nothing, twins,
			list(links.NewLink(0, 1, links.Cannot), links.NewLink(0, 2, links.Must))},
		"eps_rel":   {func(p *XRCA) { p.EpsRel = 0 }, x, set},
		"dims":      {func(p *XRCA) { p.Dims = -1 }, x, set},
		"rank_tol":  {func(p *XRCA) { p.RankTol = 1 }, x, set},
		"one place": {nothing, &points.Dense{N: 40, D: 4, Data: make([]float64, 160)}, set},
		"rows":      {nothing, x.Select([]int{1, 2}), set},
	} {
		l := XRCALearner{Params: param.Default[XRCA]()}
		c.change(&l.Params)
		if _, err := l.Fit(ctx, eng, c.x, c.set); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	for i := range 40 { // a constant column
		twins.Row(i)[2] = 7
	}
	xrcaFitted(t, nothing, twins, set)
	wide, _, few := enginetest.Bands(t, 60, 10000, 30, 7)
	if m := xrcaFitted(t, nothing, wide, few); m.Dim() > 59 {
		t.Errorf("%d dimensions of 60 points", m.Dim())
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (XRCALearner{Params: param.Default[XRCA]()}).Fit(done, eng, x, set); !errors.Is(err,
		context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}
