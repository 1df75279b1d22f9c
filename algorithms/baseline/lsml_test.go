package baseline

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

func tight() LSMLLearner {
	l := LSMLLearner{Params: param.Default[LSML](), Seed: 1}
	l.Params.Tol = 1e-13
	return l
}

// metric returns M in terms of the features.
func metric(m *LSMLModel) blas.Matrix {
	w, _ := m.Transform()
	out := blas.NewMatrix(w.Cols, w.Cols)
	for r := range w.Rows {
		for i, v := range w.Row(r) {
			for j, u := range w.Row(r) {
				out.Set(i, j, out.At(i, j)+v*u)
			}
		}
	}
	return out
}

// priorInverse returns the inverse of M0 by its definition: the mean variance of a feature, or the
// covariance.
func priorInverse(x *points.Dense, p LSMLPrior) blas.Matrix {
	mean, out, trace := make([]float64, x.D), blas.NewMatrix(x.D, x.D), 0.0
	for i := range x.N {
		for c, v := range x.Row(i) {
			mean[c] += v / float64(x.N)
		}
	}
	for i := range x.N {
		for a := range x.D {
			for b := range x.D {
				out.Set(a, b, out.At(a, b)+(x.Row(i)[a]-mean[a])*(x.Row(i)[b]-mean[b])/float64(x.N))
			}
		}
	}
	if p == LSMLCovariance {
		return out
	}
	for a := range x.D {
		trace += out.At(a, a)
	}
	out = blas.NewMatrix(x.D, x.D)
	for a := range x.D {
		out.Set(a, a, trace/float64(x.D))
	}
	return out
}

// comparisonsOf returns all pairs of a must-link and a cannot-link.
func comparisonsOf(set *links.Set) (list []links.Quadruplet) {
	for _, m := range set.Must() {
		for _, c := range set.Cannot() {
			list = append(list, links.Quadruplet{I: m.I, J: m.J, K: c.I, L: c.J})
		}
	}
	return list
}

// TestLSMLOptimum checks that the gradient of F over the features vanishes: M0^-1 - M^-1 + gamma
// mean (1 - v/u) dd' + (1 - u/v) ee' for the differences d and e of the pairs and their lengths u
// and v, where u > v; and that F is the objective.
func TestLSMLOptimum(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		const n, d = 40, 3
		x, _, set := enginetest.Bands(rt, n, d, rapid.IntRange(1, 12).Draw(rt, "links"),
			rapid.Uint64().Draw(rt, "seed"))
		l := tight()
		l.Params.Prior = rapid.SampledFrom([]LSMLPrior{LSMLIdentity, LSMLCovariance}).Draw(rt, "prior")
		l.Params.Gamma = rapid.SampledFrom([]float64{0.1, 1, 1000}).Draw(rt, "gamma")
		fit := fittest.Fit[*LSMLModel](rt, l, x, set)
		m, prior := metric(fit), priorInverse(x, l.Params.Prior)
		gradient, inverse, size, f := prior.Clone(), enginetest.Inverse(rt, m), 0.0, -float64(d)
		for i, v := range inverse.Data {
			gradient.Data[i] -= v
			size = max(size, math.Abs(v))
			f += prior.Data[i] * m.Data[i]
		}
		length := func(i, j int) (float64, []float64) {
			e, sum := make([]float64, d), 0.0
			for a := range d {
				e[a] = x.Row(i)[a] - x.Row(j)[a]
			}
			for a := range d {
				for b := range d {
					sum += e[a] * m.At(a, b) * e[b]
				}
			}
			return math.Sqrt(sum), e
		}
		list := comparisonsOf(set)
		weight := l.Params.Gamma / float64(len(list))
		for _, q := range list {
			u, near := length(q.I, q.J)
			v, far := length(q.K, q.L)
			if u <= v {
				continue
			}
			f += weight * (u - v) * (u - v)
			for a := range d {
				for b := range d {
					gradient.Set(a, b, gradient.At(a,
						b)+weight*((1-v/u)*near[a]*near[b]+(1-u/v)*far[a]*far[b]))
				}
			}
		}
		for i, v := range gradient.Data {
			if math.Abs(v) > 1e-5*size {
				rt.Fatalf("element %d of the gradient is %g of %g", i, v, size)
			}
		}
		for i, sign := range []float64{-1, 1} { // - log det (M M0^-1)
			w := make([]float64, d)
			of := []blas.Matrix{m, enginetest.Inverse(rt, prior)}[i]
			if err := enginetest.New(rt, 1).SymEig(context.Background(), of, w, false); err != nil {
				rt.Fatal(err)
			}
			for _, v := range w {
				f += sign * math.Log(v)
			}
		}
		if math.Abs(f-fit.Objective()) > 1e-9*max(1, f) {
			rt.Fatalf("F is %.12g, the objective %.12g", f, fit.Objective())
		}
	})
}

// TestLSMLPriorIsLeft checks that comparisons that hold in the prior do not change it: distances
// are Euclidean distances divided by the mean variance, or those of Mahalanobis.
func TestLSMLPriorIsLeft(t *testing.T) {
	x, _, _ := enginetest.Bands(t, 30, 3, 1, 5)
	for i := range x.N {
		x.Row(i)[0] *= 100 // classes are far apart in both priors
	}
	for _, prior := range []LSMLPrior{LSMLIdentity, LSMLCovariance} {
		l := tight()
		l.Params.Prior = prior
		l.Quadruplets = []links.Quadruplet{{I: 0, J: 3, K: 0, L: 2}, {I: 4, J: 7, K: 5, L: 6}}
		fit := fittest.Fit[*LSMLModel](t, l, x, enginetest.Links(t, 30, nil))
		if fit.Status().Iterations != 0 || fit.Objective() != 0 || !fit.Status().Converged {
			t.Errorf("%s: %+v, objective %g: want that of the prior", prior, fit.Status(), fit.Objective())
		}
		want := enginetest.Inverse(t, priorInverse(x, prior))
		for i, v := range metric(fit).Data {
			if math.Abs(v-want.Data[i]) > 1e-12*want.At(0, 0)+1e-12 {
				t.Errorf("%s: element %d is %g, want %g", prior, i, v, want.Data[i])
			}
		}
	}
}

// TestLSMLComparisons checks that links are equivalent to their comparisons, integer weights to
// repetitions, and triplets to quadruplets, and that the seed determines which comparisons are
// drawn.
func TestLSMLComparisons(t *testing.T) {
	x, _, set := enginetest.Bands(t, 40, 4, 6, 7)
	none := enginetest.Links(t, 40, nil)
	same := func(what string, a, b *LSMLModel) {
		t.Helper()
		p, q := metric(a), metric(b)
		for i, v := range p.Data {
			if math.Abs(v-q.Data[i]) > 1e-6 {
				t.Errorf("%s: element %d is %g and %g", what, i, v, q.Data[i])
			}
		}
	}
	l := tight()
	l.Quadruplets = comparisonsOf(set)
	want := fittest.Fit[*LSMLModel](t, tight(), x, set)
	same("quadruplets of links", fittest.Fit[*LSMLModel](t, l, x, none), want)
	slices.Reverse(l.Quadruplets)
	for k := range l.Quadruplets {
		q := &l.Quadruplets[k]
		q.I, q.J, q.K, q.L = q.J, q.I, q.L, q.K
	}
	same("turned", fittest.Fit[*LSMLModel](t, l, x, none), want)

	heavy, twice := slices.Clone(set.Must()),
		slices.Concat(comparisonsOf(set),
			comparisonsOf(enginetest.Links(t, 40, append(set.Must()[:1:1], set.Cannot()...))))
	heavy[0].Weight = 2
	l.Quadruplets = twice
	same("weights", fittest.Fit[*LSMLModel](t, l, x, none),
		fittest.Fit[*LSMLModel](t, tight(), x, enginetest.Links(t, 40, slices.Concat(heavy, set.Cannot()))))

	triplets := []links.Triplet{{I: 0, J: 3, K: 1}, {I: 5, J: 2, K: 4}, {I: 7, J: 1, K: 9}}
	l.Quadruplets = nil
	for _, c := range triplets {
		l.Quadruplets = append(l.Quadruplets, c.Quadruplet())
	}
	compared := tight()
	compared.Triplets = triplets
	same("triplets", fittest.Fit[*LSMLModel](t, l, x, none), fittest.Fit[*LSMLModel](t, compared, x, none))
	compared.Triplets, compared.Quadruplets = triplets[:2], l.Quadruplets[2:]
	both := fittest.Fit[*LSMLModel](t, compared, x, none)
	same("triplets and quadruplets", fittest.Fit[*LSMLModel](t, l, x, none), both)

	few := tight()
	few.Params.Comparisons = 5
	other := few
	other.Seed = 2
	if a, b := fittest.Fit[*LSMLModel](t, few, x, set),
		fittest.Fit[*LSMLModel](t, other, x, set); a.Objective() == b.Objective() ||
		a.Objective() == want.Objective() {
		t.Error("five comparisons of 36 do not depend on the seed, or equal all 36")
	}
	if m := fittest.Fit[*LSMLModel](t, few, x, set); fittest.Fit[*LSMLModel](t, few, x,
		set).Objective() != m.Objective() {
		t.Error("the same seed draws other comparisons")
	}
	flat := tight()
	flat.Params.Dims = 2
	if m := fittest.Fit[*LSMLModel](t, flat, x, set); m.Dim() != 2 {
		t.Errorf("%d dimensions, want 2", m.Dim())
	} else if w, _ := m.Transform(); true {
		if all, _ := want.Transform(); !slices.Equal(w.Row(1), all.Row(1)) {
			t.Error("two dimensions are not the first two")
		}
	}
}

func TestLSMLModelFile(t *testing.T) {
	x, _, set := enginetest.Bands(t, 40, 4, 20, 5)
	m, f := fittest.Fit[*LSMLModel](t, tight(), x, set), &model.File{}
	if err := m.Encode(f); err != nil {
		t.Fatal(err)
	}
	back, err := fitted.DecodeTraced[LSML](LSMLMethod, f, fitted.ReadLinear)
	if err != nil {
		t.Fatal(err)
	}
	a, errA := m.Embed(context.Background(), enginetest.New(t, 0), x)
	b, errB := back.Embed(context.Background(), enginetest.New(t, 0), x)
	if errA != nil || errB != nil || !slices.Equal(a.Data, b.Data) || !slices.Equal(m.Trace(), back.Trace()) {
		t.Errorf("the model that was read differs from the one that was written (%v, %v)", errA, errB)
	}
}

func TestLSMLBadInput(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	x, _, set := enginetest.Bands(t, 40, 4, 5, 6)
	none, must := enginetest.Links(t, 40, nil),
		enginetest.Links(t, 40, []links.Link{links.NewLink(0, 1, links.Must)})
	nothing := func(*LSMLLearner) {}
	for name, c := range map[string]struct {
		change func(l *LSMLLearner)
		x      points.Points
		set    *links.Set
		words  string
	}{
		"no links":  {nothing, x, none, "got 0 and 0, or quadruplets or triplets"},
		"no cannot": {nothing, x, must, "got 1 and 0"},
		"quadruplet": {func(l *LSMLLearner) {
			l.Quadruplets = []links.Quadruplet{{I: 0, J: 1, K: 2, L: 40}}
		}, x, set, "row 40"},
		"same pair": {func(l *LSMLLearner) {
			l.Quadruplets = []links.Quadruplet{{I: 0, J: 1, K: 1, L: 0}}
		}, x, set, "two different pairs"},
		"triplet": {func(l *LSMLLearner) {
			l.Triplets = []links.Triplet{{I: 0, J: 0, K: 1}}
		}, x, set, "three different rows"},
		"gamma":       {func(l *LSMLLearner) { l.Params.Gamma = 0 }, x, set, "gamma"},
		"prior":       {func(l *LSMLLearner) { l.Params.Prior = "unit" }, x, set, "prior"},
		"comparisons": {func(l *LSMLLearner) { l.Params.Comparisons = 0 }, x, set, "comparisons"},
		"dims":        {func(l *LSMLLearner) { l.Params.Dims = -1 }, x, set, "dims"},
		"tol":         {func(l *LSMLLearner) { l.Params.Tol = math.NaN() }, x, set, "tol"},
		"max_iter":    {func(l *LSMLLearner) { l.Params.MaxIter = 0 }, x, set, "max_iter"},
		"one place":   {nothing, &points.Dense{N: 40, D: 4, Data: make([]float64, 160)}, set, "equal"},
		"rows":        {nothing, x.Select([]int{1, 2}), set, "rows"},
		"zeros":       {nothing, &points.CSR{N: 40, D: 1, Start: make([]int, 41)}, set, "no variance"},
	} {
		l := tight()
		c.change(&l)
		if _, err := l.Fit(ctx, eng, c.x, c.set); !fault.IsInput(err) ||
			!strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: error %v, want one of the input with %q", name, err, c.words)
		}
	}
	short := tight()
	short.Params.MaxIter = 1
	if s := fittest.Fit[*LSMLModel](t, short, x, set).Status(); s.Converged ||
		!strings.Contains(s.Message, "after 1 iterations") {
		t.Errorf("one iteration: %+v", s)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := tight().Fit(done, eng, x, set); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}
