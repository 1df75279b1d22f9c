package baseline

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/drawstest"
	"github.com/mustlink/mustlink/internal/propertytest"
)

func seeded() SCMLLearner { return SCMLLearner{Params: param.Default[SCML](), Seed: 1} }

// distance returns the squared distance of M, computed by the map.
func distance(w blas.Matrix, x *points.Dense, i, j int) (sum float64) {
	for r := range w.Rows {
		along := 0.0
		for c, v := range w.Row(r) {
			along += v * (x.Row(i)[c] - x.Row(j)[c])
		}
		sum += along * along
	}
	return sum
}

// variance returns the mean variance of a feature.
func variance(x *points.Dense) (sum float64) {
	for c := range x.D {
		mean, square := 0.0, 0.0
		for i := range x.N {
			mean += x.Row(i)[c] / float64(x.N)
			square += x.Row(i)[c] * x.Row(i)[c] / float64(x.N)
		}
		sum += (square - mean*mean) / float64(x.D)
	}
	return sum
}

// TestSCMLObjective compares the objective with its definition: the mean hinge of the triplets, and
// beta times the trace in the unit of the points. It must not be above that of M = 0, and no
// multiple of M may be better: the derivative with respect to the factor changes its sign there.
func TestSCMLObjective(t *testing.T) {
	propertytest.CheckSome(t, drawstest.Count(25, 100), func(rt *rapid.T) {
		x, labels, _ := enginetest.Bands(rt, 12, 4, 1, rapid.Uint64().Draw(rt, "seed"))
		l := seeded()
		l.Params.Beta = rapid.SampledFrom([]float64{1e-5, 1e-3, 1e-2}).Draw(rt, "beta")
		l.Params.Basis = rapid.SampledFrom([]SCMLBasis{SCMLLDA, SCMLTripletDiffs}).Draw(rt, "basis")
		set, err := links.FromLabels(labels)
		if err != nil {
			rt.Fatal(err)
		}
		m := fittest.Fit[*SCMLModel](rt, l, x, set)
		w, _ := m.Transform()
		var list []links.Triplet
		for i := range 12 {
			for j := range 12 {
				for k := range 12 {
					if i != j && labels[i] == labels[j] && labels[i] != labels[k] {
						list = append(list, links.Triplet{I: i, J: j, K: k})
					}
				}
			}
		}
		price := 0.0
		for _, v := range w.Data {
			price += l.Params.Beta * v * v * variance(x)
		}
		f := func(factor float64) float64 {
			sum := 0.0
			for _, c := range list {
				sum += max(0, 1+factor*(distance(w, x, c.I, c.J)-distance(w, x, c.I, c.K)))
			}
			return sum/float64(len(list)) + factor*price
		}
		if got := m.Objective(); math.Abs(f(1)-got) > 1e-9 || got > 1 {
			rt.Fatalf("the metric costs %.12g, the objective is %.12g", f(1), got)
		}
		if f(1.01) < f(1)-l.Params.Tol || f(0.99) < f(1)-l.Params.Tol {
			rt.Fatalf("%.12g is improved by a factor: %.12g, %.12g", f(1), f(1.01), f(0.99))
		}
	})
}

// TestSCMLTwoBases compares the optimum for two bases with a search over all corners of the linear
// program, by its definition.
func TestSCMLTwoBases(t *testing.T) {
	eng := enginetest.New(t, 1)
	x, labels, _ := enginetest.Bands(t, 12, 2, 1, 4)
	z, bases := blas.MatrixOf(12, 2, x.Data), blas.NewMatrix(2, 2)
	copy(bases.Data, []float64{1, 0, 0.6, 0.8})
	set, err := links.FromLabels(labels)
	if err != nil {
		t.Fatal(err)
	}
	triplets, err := linear.NewClasses(set).Triplets(1000, 1)
	if err != nil {
		t.Fatal(err)
	}
	l := seeded()
	l.Params.Beta = 1e-3
	got, err := l.Params.weigh(context.Background(), &learner.Fit{Eng: eng}, z, bases, triplets)
	if err != nil {
		t.Fatal(err)
	}
	lines := [][3]float64{{1, 0, 0}, {0, 1, 0}}
	for _, c := range triplets {
		lines = append(lines, [3]float64{0, 0, -1})
		for b := range 2 {
			along := func(i int) float64 { return bases.At(b, 0)*x.Row(i)[0] + bases.At(b, 1)*x.Row(i)[1] }
			near, far := along(c.I)-along(c.J), along(c.I)-along(c.K)
			lines[len(lines)-1][b] = near*near - far*far
		}
	}
	f := func(w [2]float64) float64 {
		sum := l.Params.Beta * (w[0] + w[1])
		for _, line := range lines[2:] {
			sum += max(0, 1+line[0]*w[0]+line[1]*w[1]) / float64(len(triplets))
		}
		return sum
	}
	best := math.Inf(1)
	for a, p := range lines {
		for _, q := range lines[:a] {
			det := p[0]*q[1] - p[1]*q[0]
			w := [2]float64{(p[2]*q[1] - p[1]*q[2]) / det, (p[0]*q[2] - p[2]*q[0]) / det}
			if det != 0 && w[0] >= 0 && w[1] >= 0 {
				best = min(best, f(w))
			}
		}
	}
	if v := f([2]float64(got.W)); v > best+1e-8 || v < best-1e-12 {
		t.Errorf("the weights %v cost %.12g, at the best corner %.12g", got.W, v, best)
	}
}

// TestSCMLSame checks that learned distances do not depend on the order of triplets or on the unit
// and the origin of the points, that the seed determines which bases and triplets are drawn, and
// that a larger penalty leaves fewer bases, down to none.
func TestSCMLSame(t *testing.T) {
	x, _, set := enginetest.Bands(t, 40, 4, 8, 7)
	made, err := linear.NewClasses(set).Triplets(1000, 1)
	if err != nil {
		t.Fatal(err)
	}
	none, l := enginetest.Links(t, 40, nil), seeded()
	l.Params.Tol, l.Params.Bases = 1e-12, 10000
	l.Triplets = made
	plain := fittest.Fit[*SCMLModel](t, l, x, none)
	other := l
	other.Triplets = slices.Clone(made)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(made), func(a, b int) {
		other.Triplets[a], other.Triplets[b] = other.Triplets[b], other.Triplets[a]
	})
	moved := &points.Dense{N: x.N, D: x.D, Data: slices.Clone(x.Data)}
	for i := range moved.Data {
		moved.Data[i] = 1000*moved.Data[i] + 5000
	}
	w, _ := plain.Transform()
	want := distance(w, x, 0, 1)
	for name, c := range map[string]struct {
		l SCMLLearner
		x *points.Dense
	}{"shuffled": {other, x}, "moved": {l, moved}} {
		m := fittest.Fit[*SCMLModel](t, c.l, c.x, none)
		w, _ := m.Transform()
		if got := distance(w, c.x, 0, 1); math.Abs(got-want) > 1e-5*want ||
			math.Abs(m.Objective()-plain.Objective()) > 1e-10 {
			t.Errorf("%s: a distance is %g, was %g; the objective %.12g, was %.12g", name, got, want,
				m.Objective(), plain.Objective())
		}
	}
	// Links give these triplets.
	linked := l
	linked.Triplets, linked.Params.Basis = nil, SCMLTripletDiffs
	if a := fittest.Fit[*SCMLModel](t, linked, x, set).Objective(); math.Abs(a-plain.Objective()) > 1e-10 {
		t.Errorf("links give the objective %.12g, their triplets %.12g", a, plain.Objective())
	}
	few := linked
	few.Params.Bases, few.Params.Triplets, few.Params.Basis = 5, 50, SCMLLDA
	again := few
	again.Seed = 2
	if a, b := fittest.Fit[*SCMLModel](t, few, x, set),
		fittest.Fit[*SCMLModel](t, again, x, set); a.Objective() == b.Objective() ||
		a.Objective() != fittest.Fit[*SCMLModel](t, few, x, set).Objective() {
		t.Error("five bases and fifty triplets do not depend on the seed alone")
	}
	rank := func(beta float64) int {
		l := linked
		l.Params.Beta = beta
		return fittest.Fit[*SCMLModel](t, l, x, set).Dim()
	}
	if a, b := rank(1e-6), rank(2); b >= a {
		t.Errorf("%d dimensions for beta = 1e-6, %d for 2: want fewer", a, b)
	}
	linked.Params.Beta = 1e6
	nothing := fittest.Fit[*SCMLModel](t, linked, x, set)
	if w, _ := nothing.Transform(); nothing.Dim() != 1 || distance(w, x, 0, 1) != 0 ||
		math.Abs(nothing.Objective()-1) > 1e-12 ||
		!strings.Contains(strings.Join(nothing.Status().Notices, ""), "beta below 1e+06") {
		t.Errorf("beta of a million: %d dimensions, objective %g, %+v", nothing.Dim(), nothing.Objective(),
			nothing.Status())
	}
}

func TestSCMLModelFile(t *testing.T) {
	x, _, set := enginetest.Bands(t, 40, 4, 20, 5)
	m, f := fittest.Fit[*SCMLModel](t, seeded(), x, set), &model.File{}
	if err := m.Encode(f); err != nil {
		t.Fatal(err)
	}
	back, err := fitted.DecodeTraced[SCML](SCMLMethod, f, fitted.ReadLinear)
	if err != nil {
		t.Fatal(err)
	}
	a, errA := m.Embed(context.Background(), enginetest.New(t, 0), x)
	b, errB := back.Embed(context.Background(), enginetest.New(t, 0), x)
	if errA != nil || errB != nil || !slices.Equal(a.Data, b.Data) || !slices.Equal(m.Trace(), back.Trace()) {
		t.Errorf("the model that was read differs from the one that was written (%v, %v)", errA, errB)
	}
}

func TestSCMLBadInput(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	x, _, set := enginetest.Bands(t, 40, 4, 12, 6)
	none, must := enginetest.Links(t, 40, nil),
		enginetest.Links(t, 40,
			[]links.Link{links.NewLink(0, 1, links.Must), links.NewLink(2, 3, links.Cannot)})
	nothing := func(*SCMLLearner) {}
	for name, c := range map[string]struct {
		change func(l *SCMLLearner)
		x      points.Points
		set    *links.Set
		words  string
	}{
		"no links":      {nothing, x, none, "learns from triplets"},
		"no shared row": {nothing, x, must, "that share a row"},
		"lda of none": {func(l *SCMLLearner) {
			l.Params.Basis, l.Triplets = SCMLLDA, []links.Triplet{{I: 0, J: 1, K: 2}}
		}, x, none, "basis"},
		"triplet": {func(l *SCMLLearner) {
			l.Triplets = []links.Triplet{{I: 0, J: 1, K: 40}}
		}, x, set, "row 40"},
		"beta":      {func(l *SCMLLearner) { l.Params.Beta = 0 }, x, set, "beta"},
		"basis":     {func(l *SCMLLearner) { l.Params.Basis = "pca" }, x, set, "basis"},
		"bases":     {func(l *SCMLLearner) { l.Params.Bases = 0 }, x, set, "bases"},
		"triplets":  {func(l *SCMLLearner) { l.Params.Triplets = 0 }, x, set, "triplets"},
		"dims":      {func(l *SCMLLearner) { l.Params.Dims = -1 }, x, set, "dims"},
		"tol":       {func(l *SCMLLearner) { l.Params.Tol = 0 }, x, set, "tol"},
		"max_iter":  {func(l *SCMLLearner) { l.Params.MaxIter = 0 }, x, set, "max_iter"},
		"one place": {nothing, &points.Dense{N: 40, D: 4, Data: make([]float64, 160)}, set, "equal"},
		"rows":      {nothing, x.Select([]int{1, 2}), set, "rows"},
		"zeros":     {nothing, &points.CSR{N: 40, D: 1, Start: make([]int, 41)}, set, "no variance"},
	} {
		l := seeded()
		c.change(&l)
		if _, err := l.Fit(ctx, eng, c.x, c.set); !fault.IsInput(err) ||
			!strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: error %v, want one of the input with %q", name, err, c.words)
		}
	}
	short := seeded()
	short.Params.MaxIter = 20
	short.Params.Tol = 1e-300
	if s := fittest.Fit[*SCMLModel](t, short, x, set).Status(); s.Converged ||
		!strings.Contains(s.Message, "iterations the objective may be") {
		t.Errorf("twenty iterations: %+v", s)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := seeded().Fit(done, eng, x, set); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}
