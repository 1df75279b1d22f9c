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

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/drawstest"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// waves returns points whose target is a wave of the first feature, with noise; the other features
// are irrelevant, and vary more.
func waves(n, d int, seed uint64) (*points.Dense, []float64) {
	rng := rand.New(rand.NewPCG(seed, 6))
	x, y := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}, make([]float64, n)
	for i := range n {
		for j := range d {
			x.Row(i)[j] = 3 * rng.NormFloat64()
		}
		x.Row(i)[0] /= 3
		y[i] = math.Sin(2*x.Row(i)[0]) + 0.05*rng.NormFloat64()
	}
	return x, y
}

func copied(x *points.Dense) *points.Dense {
	return &points.Dense{N: x.N, D: x.D, Data: slices.Clone(x.Data)}
}

func noLinks(t enginetest.Fataler, n int) *links.Set {
	t.Helper()
	set, err := links.New(n, nil)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// ofTargets returns the learner of these targets.
func ofTargets(p MLKR, y []float64) MLKRLearner {
	return MLKRLearner{Params: p, Lesson: algorithms.Lesson{Targets: y}}
}

func mlkrFitted(t enginetest.Fataler, eng *engine.Engine, change func(p *MLKR), x *points.Dense,
	y []float64) *MLKRModel {
	t.Helper()
	p := param.Default[MLKR]()
	change(&p)
	return fittest.On[*MLKRModel](t, eng, ofTargets(p, y), x, enginetest.Links(t, x.N, nil))
}

func defaults(*MLKR) {}

// explainedBy returns the objective by its definition, in coordinates z.
func explainedBy(z func(i int) []float64, y []float64) float64 {
	mean, left, all := 0.0, 0.0, 0.0
	for _, v := range y {
		mean += v / float64(len(y))
	}
	for i := range y {
		sum, weights, nearest := 0.0, 0.0, math.Inf(1)
		for j := range y {
			if j != i {
				nearest = min(nearest, points.SquaredDistance(z(i), z(j)))
			}
		}
		for j := range y {
			if j != i {
				k := math.Exp(nearest - points.SquaredDistance(z(i), z(j)))
				sum, weights = sum+k*y[j], weights+k
			}
		}
		left += (y[i] - sum/weights) * (y[i] - sum/weights)
		all += (y[i] - mean) * (y[i] - mean)
	}
	return 1 - left/all
}

func problemOf(t *testing.T, x *points.Dense, y []float64, dims int) *mlkrProblem {
	t.Helper()
	ctx, eng := context.Background(), enginetest.New(t, 0)
	pc, err := linear.NewPrincipal(ctx, eng, x, 1e-10)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newMLKRProblem(ctx, eng, pc, y, dims)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestMLKRGradient compares the value with its definition and the gradient with differences: with
// more points than a block, in maps under which all points have weight for each other, and in one
// under which they are so far apart that weights are computed relative to the nearest.
func TestMLKRGradient(t *testing.T) {
	for _, n := range []int{24, 420} {
		x, y := waves(n, 3, 1)
		for _, scale := range []float64{0.3, 1, 200} {
			p := problemOf(t, x, y, 2)
			rng := rand.New(rand.NewPCG(7, 1))
			a, gradient, other := make([]float64, 6), make([]float64, 6), make([]float64, 6)
			for i := range a {
				a[i] = scale * rng.NormFloat64()
			}
			value, err := p.At(a, gradient)
			if err != nil {
				t.Fatal(err)
			}
			z := make([][]float64, n)
			for i := range z {
				z[i] = []float64{0, 0}
				for r := range z[i] {
					for k := range 3 {
						z[i][r] += a[3*r+k] * p.Z.At(i, k)
					}
				}
			}
			if want := -explainedBy(func(i int) []float64 {
				return z[i]
			}, y); math.Abs(value-want) > 1e-9*max(1, scale) {
				t.Errorf("scale %g: value %.15g, by definition %.15g", scale, value, want)
			}
			h := 1e-6 * math.Sqrt(scale)
			size := math.Sqrt(p.t.Dot(gradient, gradient))
			for i := range a {
				was := a[i]
				a[i] = was + h
				up, _ := p.At(a, other)
				a[i] = was - h
				down, _ := p.At(a, other)
				a[i] = was
				if d := (up - down) / (2 * h); math.Abs(d-gradient[i]) > 1e-8+1e-4*size {
					t.Errorf("scale %g: gradient %d is %g, by differences %g", scale, i, gradient[i], d)
				}
			}
		}
	}
}

// TestMLKROptimality checks that no direction rises at the end: the gradient vanishes relative to
// that at the start.
func TestMLKROptimality(t *testing.T) {
	x, y := waves(80, 3, 2)
	p := problemOf(t, x, y, 0)
	m := mlkrFitted(t, enginetest.New(t, 0), func(p *MLKR) { p.Tol, p.Starts = 1e-14, 1 }, x, y)
	starts, err := p.starts([]float64{1, 1, 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	before, after := make([]float64, 9), make([]float64, 9)
	if _, err := p.At(starts[0], before); err != nil {
		t.Fatal(err)
	}
	pc, err := linear.NewPrincipal(context.Background(), enginetest.New(t, 0), x, 1e-10)
	if err != nil {
		t.Fatal(err)
	}
	w, _ := m.Transform()
	a := make([]float64, 9) // the map in divided principal coordinates
	for r := range 3 {
		for k := range 3 {
			a[3*r+k] = p.t.Dot(w.Row(r), pc.Directions.Row(k)) * math.Sqrt(pc.Variances[k])
		}
	}
	value, err := p.At(a, after)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(value+m.Objective()) > 1e-12 {
		t.Errorf("objective %.15g, under the map %.15g", m.Objective(), -value)
	}
	if size := math.Sqrt(p.t.Dot(after, after) / p.t.Dot(before, before)); !(size < 1e-5) {
		t.Errorf("the gradient at the end is %g of that at the start", size)
	}
}

// TestMLKRLearns checks that the objective rises, that it is that of the definition under the
// returned map, that the feature that determines the targets is found, and that more starts explain
// at least as much.
func TestMLKRLearns(t *testing.T) {
	eng := enginetest.New(t, 0)
	propertytest.CheckSome(t, drawstest.Count(25, 100), func(rt *rapid.T) {
		x, y := waves(90, 3, rapid.Uint64().Draw(rt, "seed"))
		dims := rapid.SampledFrom([]int{0, 1, 2}).Draw(rt, "dims")
		last := math.Inf(-1)
		for starts := 1; starts <= 3; starts++ {
			m := mlkrFitted(rt, eng, func(p *MLKR) { p.Dims, p.Starts = dims, starts }, x, y)
			if trace := m.Trace(); !slices.IsSorted(trace) || m.Objective() > 1 || m.Objective() < last {
				rt.Fatalf("%d starts: objectives %v, %g with fewer", starts, trace, last)
			}
			last = m.Objective()
			z, err := m.Embed(context.Background(), eng, x)
			if err != nil {
				rt.Fatal(err)
			}
			if want := explainedBy(z.Row, y); math.Abs(want-last) > 1e-9 {
				rt.Fatalf("objective %.12g, under the map %.12g", last, want)
			}
		}
		if plain := explainedBy(x.Row, y); last < plain || dims == 0 && last < 0.8 {
			rt.Fatalf("%g explained, %g by the points as they are", last, plain)
		}
	})
}

// TestMLKRInvariance checks what the objective must not depend on: the origin of points and
// targets, the unit of the targets, the order of the rows. (Rounding takes the search along another
// path to the same maximum.)
func TestMLKRInvariance(t *testing.T) {
	eng := enginetest.New(t, 0)
	x, y := waves(80, 3, 4)
	exact := func(p *MLKR) { p.Tol = 1e-13 }
	pairs := [][2]int{{0, 1}, {5, 17}, {20, 60}}
	distances := func(m *MLKRModel, x *points.Dense, pairs [][2]int) []float64 {
		d, err := m.Distances(context.Background(), eng, x, pairs)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	m := mlkrFitted(t, eng, exact, x, y)
	want := distances(m, x, pairs)
	moved, turned := copied(x), &points.Dense{N: 80, D: 3, Data: make([]float64, 240)}
	shifted, larger, back := slices.Clone(y), slices.Clone(y), make([]float64, 80)
	for i := range 80 {
		for j := range 3 {
			moved.Row(i)[j] += float64(10 * (j - 1))
		}
		shifted[i] += 100
		larger[i] *= 1e300
		copy(turned.Row(79-i), x.Row(i))
		back[79-i] = y[i]
	}
	for name, c := range map[string]struct {
		x     *points.Dense
		y     []float64
		pairs [][2]int
	}{
		"points moved":   {moved, y, pairs},
		"targets moved":  {x, shifted, pairs},
		"targets scaled": {x, larger, pairs},
		"rows turned":    {turned, back, [][2]int{{79, 78}, {74, 62}, {59, 19}}},
	} {
		other := mlkrFitted(t, eng, exact, c.x, c.y)
		if math.Abs(other.Objective()-m.Objective()) > 1e-10 {
			t.Errorf("%s: objective %.15g, %.15g before", name, other.Objective(), m.Objective())
		}
		for k, d := range distances(other, c.x, c.pairs) {
			if math.Abs(d-want[k]) > 1e-4*want[k] {
				t.Errorf("%s: squared distance %g, %g before", name, d, want[k])
			}
		}
	}
}

// TestMLKRWorkers checks that the result is bit-identical for any number of workers, with more
// points than a block.
func TestMLKRWorkers(t *testing.T) {
	x, y := waves(700, 4, 5)
	short := func(p *MLKR) { p.MaxIter = 20 }
	one, _ := mlkrFitted(t, enginetest.New(t, 1), short, x, y).Transform()
	four, _ := mlkrFitted(t, enginetest.New(t, 4), short, x, y).Transform()
	if !slices.Equal(one.Data, four.Data) {
		t.Error("4 workers and 1 find different bits")
	}
}

func TestMLKRModelFile(t *testing.T) {
	eng := enginetest.New(t, 0)
	x, y := waves(40, 4, 5)
	m := mlkrFitted(t, eng, func(p *MLKR) { p.Dims = 2 }, x, y)
	f := &model.File{}
	if err := m.Encode(f); err != nil {
		t.Fatal(err)
	}
	back, err := fitted.DecodeTraced[MLKR](MLKRMethod, f, fitted.ReadLinear)
	if err != nil {
		t.Fatal(err)
	}
	pairs := [][2]int{{0, 1}, {5, 17}}
	a, errA := m.Distances(context.Background(), eng, x, pairs)
	b, errB := back.Distances(context.Background(), eng, x, pairs)
	if errA != nil || errB != nil || !slices.Equal(a, b) || !slices.Equal(m.Trace(), back.Trace()) {
		t.Errorf("the model that was read differs from the one that was written (%v, %v)", errA, errB)
	}
}

func TestMLKRBadInput(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	x, y := waves(40, 4, 6)
	at := func(i int, v float64) []float64 {
		out := slices.Clone(y)
		out[i] = v
		return out
	}
	for name, c := range map[string]struct {
		change  func(p *MLKR)
		x       points.Points
		targets []float64
		text    string
	}{
		"no targets":  {defaults, x, nil, "want a number for each of the 40 points, got none"},
		"few targets": {defaults, x, y[:39], "number of targets is 39: want 40, the number of points"},
		"NaN":         {defaults, x, at(3, math.NaN()), `row 3, column "target": NaN is not finite`},
		"Inf":         {defaults, x, at(39, math.Inf(-1)), `row 39, column "target": -Inf is not finite`},
		"all equal":   {defaults, x, slices.Repeat([]float64{0.1}, 40), "all targets are equal"},
		"dims":        {func(p *MLKR) { p.Dims = 5 }, x, y, "dims is 5"},
		"less dims":   {func(p *MLKR) { p.Dims = -1 }, x, y, "dims is -1"},
		"rank":        {func(p *MLKR) { p.Rank = -1 }, x, y, "rank is -1"},
		"rank_tol":    {func(p *MLKR) { p.RankTol = 1 }, x, y, "rank_tol is 1"},
		"tol":         {func(p *MLKR) { p.Tol = 0 }, x, y, "tol is 0"},
		"no start":    {func(p *MLKR) { p.Starts = 0 }, x, y, "starts is 0"},
		"starts":      {func(p *MLKR) { p.Starts = 4 }, x, y, "starts is 4"},
		"max_iter":    {func(p *MLKR) { p.MaxIter = 0 }, x, y, "max_iter is 0"},
		"one place": {defaults, &points.Dense{N: 40, D: 4, Data: make([]float64, 160)}, y,
			"all points are equal"},
		"rows": {defaults, x.Select([]int{1, 2}), y, "number of rows that the links refer to"},
	} {
		p := param.Default[MLKR]()
		c.change(&p)
		_, err := ofTargets(p, c.targets).Fit(ctx, eng, c.x, noLinks(t, 40))
		if !fault.IsInput(err) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: error %v, want one of the input with %q", name, err, c.text)
		}
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := ofTargets(param.Default[MLKR](), y).Fit(done, eng, x, noLinks(t, 40)); !errors.Is(err,
		context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}

// TestMLKROddInput checks that unusual points and targets do no harm: equal points with different
// targets, constant columns, two points, points so far apart that all weights vanish, targets of
// any size, more features than points, a search cut short. Links are ignored.
func TestMLKROddInput(t *testing.T) {
	eng := enginetest.New(t, 0)
	x, y := waves(40, 4, 6)
	twins := copied(x)
	for i := range 40 {
		copy(twins.Row(i), twins.Row(i/3*3))
		twins.Row(i)[2] = 7
	}
	m := mlkrFitted(t, eng, func(p *MLKR) { p.MaxIter = 1 }, twins, y)
	if s := m.Status(); s.Converged || !strings.Contains(s.Message, "max_iter") ||
		m.Objective()-m.Objective() != 0 {
		t.Errorf("status %+v, objective %v", s, m.Objective())
	}
	far := copied(x)
	for i := range far.Data {
		far.Data[i] *= 1e60
	}
	plain := mlkrFitted(t, eng, defaults, x, y).Objective()
	if m := mlkrFitted(t, eng, defaults, far, y); math.Abs(m.Objective()-plain) > 1e-6 {
		t.Errorf("objective %v of points that are far apart, %v of the same near each other", m.Objective(),
			plain)
	}
	if m := mlkrFitted(t, eng, defaults, &points.Dense{N: 2, D: 1, Data: []float64{0, 1}},
		[]float64{1e308, -1.7e308}); math.Abs(m.Objective()+3) > 1e-12 {
		t.Errorf("objective %v of two points, each estimated by the other: want -3", m.Objective())
	}
	wide, few := waves(20, 2000, 7)
	if m := mlkrFitted(t, eng, func(p *MLKR) { p.MaxIter = 3 }, wide, few); m.Dim() > 19 {
		t.Errorf("%d dimensions of 20 points", m.Dim())
	}
	set, err := links.New(40,
		[]links.Link{links.NewLink(0, 1, links.Must), links.NewLink(0, 2, links.Cannot)})
	if err != nil {
		t.Fatal(err)
	}
	linked, err := ofTargets(param.Default[MLKR](), y).Fit(context.Background(), eng, x, set)
	if err != nil {
		t.Fatal(err)
	}
	if notices := linked.Status().Notices; len(notices) != 1 ||
		!strings.Contains(notices[0], "2 links ignored") || linked.(*MLKRModel).Objective() != plain {
		t.Errorf("with links: notices %q, objective %v, without %v", notices, linked.(*MLKRModel).Objective(),
			plain)
	}
}
