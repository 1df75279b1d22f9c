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
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// mmcFitted fits with the defaults and a change of them.
var mmcFitted = fittest.Changed[*MMCModel](learner.New[MMC], param.Default[MMC]())

// TestMMCGradient compares the gradient with differences.
func TestMMCGradient(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		x, _, set := enginetest.Bands(rt, 40, 4, 20, rapid.Uint64().Draw(rt, "seed"))
		p, _, err := param.Default[MMC]().frame(context.Background(), enginetest.New(rt, 0), x, set)
		if err != nil {
			rt.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "place"), 1))
		at, gradient, other := slices.Clone(p.start), make([]float64, len(p.start)),
			make([]float64, len(p.start))
		for i := range at {
			at[i] += 0.5 * rng.NormFloat64()
		}
		if _, err := p.at(at, gradient); err != nil {
			rt.Fatal(err)
		}
		const h = 1e-6
		for i := range at {
			was := at[i]
			at[i] = was + h
			up, _ := p.at(at, other)
			at[i] = was - h
			down, _ := p.at(at, other)
			at[i] = was
			if d := (up - down) / (2 * h); math.Abs(d-gradient[i]) > 1e-6*(1+math.Abs(d)) {
				rt.Fatalf("gradient %d is %g, by differences %g", i, gradient[i], d)
			}
		}
	})
}

// TestMMCWeights checks the problem of weights: the gradient is that of differences, the scale is
// the best one, and if no weight is 0, a Newton direction solves the system of second differences.
func TestMMCWeights(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		const d = 4
		x, _, set := enginetest.Bands(rt, 40, d, 20, rapid.Uint64().Draw(rt, "seed"))
		l := MMCLearner{Params: param.Default[MMC]()}
		l.Params.Diagonal = true
		p, _, err := l.Params.frame(context.Background(), enginetest.New(rt, 0), x, set)
		if err != nil {
			rt.Fatal(err)
		}
		s := newMMCWeights(p)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "place"), 1))
		for c := range s.w {
			s.w[c] = 0.5 + rng.Float64()
		}
		s.settle()
		value := func(change func(w []float64)) float64 {
			w, h := slices.Clone(s.w), 0.0
			change(w)
			for k := range p.z.Rows {
				sum := 0.0
				for c, v := range p.z.Row(k) {
					sum += v * w[c]
				}
				h += math.Sqrt(sum)
			}
			for _, v := range w {
				h -= v
			}
			return h
		}
		here := value(func([]float64) {})
		for _, scale := range []float64{0.99, 1.01} {
			if value(func(w []float64) {
				for c := range w {
					w[c] *= scale
				}
			}) > here {
				rt.Fatalf("%g times the weights are better", scale)
			}
		}
		direction, err := s.direction(context.Background(), []int{0, 1, 2, 3}, s.curvature())
		if err != nil {
			rt.Fatal(err)
		}
		step := 1e-4 * s.total
		for i := range d {
			up, down := value(func(w []float64) { w[i] += step }), value(func(w []float64) { w[i] -= step })
			if slope := (up - down) / (2 * step); math.Abs(slope-s.g[i]) > 1e-5*(1+math.Abs(slope)) {
				rt.Fatalf("gradient %d is %g, by differences %g", i, s.g[i], slope)
			}
			product := 0.0 // of the second derivative with the direction, by differences
			for j := range d {
				product += direction[j] * (value(func(w []float64) {
					w[i] += step
					w[j] += step
				}) - value(func(w []float64) { w[i] += step; w[j] -= step }) -
					value(func(w []float64) {
						w[i] -= step
						w[j] += step
					}) + value(func(w []float64) { w[i] -= step; w[j] -= step })) / (4 * step * step)
			}
			if math.Abs(product+s.g[i]) > 1e-3*(1+math.Abs(s.g[i])) {
				rt.Fatalf("row %d of the Newton system is %g: want %g", i, product, -s.g[i])
			}
		}
	})
}

// objective returns the sum of cannot-linked distances divided by the root of the sum of squared
// must-linked ones, with eps in the directions in which points vary, under the metric of the model.
func objective(t enginetest.Fataler, m *MMCModel, x *points.Dense, set *links.Set) float64 {
	t.Helper()
	var pairs [][2]int
	for _, l := range slices.Concat(set.Must(), set.Cannot()) {
		pairs = append(pairs, [2]int{l.I, l.J})
	}
	d, err := m.Distances(context.Background(), enginetest.New(t, 0), x, pairs)
	if err != nil {
		t.Fatal(err)
	}
	near, far := 0.0, 0.0
	for k, v := range d {
		if k < len(set.Must()) {
			near += v
		} else {
			far += math.Sqrt(v)
		}
	}
	return far / math.Sqrt(near)
}

// TestMMCOptimum compares the optimum with that of a slower algorithm: gradients in A = L L', with
// each step projected to the positive semidefinite matrices (or diagonals) of trace 1, in whitened
// coordinates. Without eps the objective is that of the linked points' distances, and it rises.
func TestMMCOptimum(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		const q = 3
		ctx, eng := context.Background(), enginetest.New(rt, 0)
		x, _, set := enginetest.Bands(rt, 40, q, 25, rapid.Uint64().Draw(rt, "seed"))
		change := func(p *MMC) {
			p.EpsRel, p.Tol, p.Diagonal = 0, 1e-7, rapid.Bool().Draw(rt, "diagonal")
		}
		l := MMCLearner{Params: param.Default[MMC]()}
		change(&l.Params)
		m := mmcFitted(rt, func(p *MMC) { *p = l.Params }, x, set)
		if got := objective(rt, m, x, set); math.Abs(got-m.Objective()) > 1e-9*got {
			rt.Fatalf("objective %.12g, by definition %.12g", m.Objective(), got)
		}
		if trace := m.Trace(); !slices.IsSorted(trace) {
			rt.Fatalf("the objective does not rise: %v", trace)
		}
		p, _, err := l.Params.frame(ctx, eng, x, set)
		if err != nil {
			rt.Fatal(err)
		}
		value := func(b blas.Matrix) (float64, blas.Matrix) { // z'B z, and the gradient
			sum, g := 0.0, blas.NewMatrix(q, q)
			for k := range p.z.Rows {
				z := p.z.Row(k)
				s := 0.0
				for i := range q {
					for j := range q {
						if p.diagonal && i == j {
							s += z[i] * b.At(i, i)
						} else if !p.diagonal {
							s += z[i] * z[j] * b.At(i, j)
						}
					}
				}
				s = math.Sqrt(max(s, 1e-18))
				sum += s
				for i := range q {
					for j := range q {
						if p.diagonal && i == j {
							g.Set(i, i, g.At(i, i)+z[i]/(2*s))
						} else if !p.diagonal {
							g.Set(i, j, g.At(i, j)+z[i]*z[j]/(2*s))
						}
					}
				}
			}
			return sum, g
		}
		b := blas.NewMatrix(q, q)
		for i := range q {
			b.Set(i, i, 1.0/q)
		}
		best, g := value(b)
		for step := 1 / best; step > 1e-12/best; {
			next := b.Clone()
			for i, v := range g.Data {
				next.Data[i] += step * v
			}
			w := make([]float64, q)
			if err := eng.SymEig(ctx, next, w, true); err != nil {
				rt.Fatal(err)
			}
			w = simplex(w)
			to := blas.NewMatrix(q, q)
			for k, v := range w {
				for i := range q {
					for j := range q {
						to.Set(i, j, to.At(i, j)+v*next.At(k, i)*next.At(k, j))
					}
				}
			}
			reached, slope := value(to)
			if reached <= best*(1+1e-13) {
				step /= 2
				continue
			}
			best, b, g = reached, to, slope
			step *= 1.5
		}
		if math.Abs(best-m.Objective()) > 1e-5*best {
			rt.Fatalf("objective %.10g, by projected gradients %.10g", m.Objective(), best)
		}
	})
}

// simplex projects to nonnegative values with the sum 1.
func simplex(v []float64) []float64 {
	s := slices.Clone(v)
	slices.Sort(s)
	slices.Reverse(s)
	sum, shift := 0.0, 0.0
	for k, x := range s {
		sum += x
		if t := (sum - 1) / float64(k+1); x > t {
			shift = t
		}
	}
	out := make([]float64, len(v))
	for k, x := range v {
		out[k] = max(0, x-shift)
	}
	return out
}

// TestMMCLearns checks for both forms that directions of large variance get small weights. The
// default regularization, for features of one scale, would be too strong here.
func TestMMCLearns(t *testing.T) {
	x, labels, set := enginetest.Bands(t, 90, 5, 60, 3)
	for _, diagonal := range []bool{false, true} {
		m := mmcFitted(t, func(p *MMC) { p.Diagonal, p.EpsRel = diagonal, 1e-3 }, x, set)
		y, err := m.Embed(context.Background(), enginetest.New(t, 0), x)
		if err != nil {
			t.Fatal(err)
		}
		right := 0
		for i := range x.N {
			best := -1
			for j := range x.N {
				if j != i && (best < 0 ||
					points.SquaredDistance(y.Row(i), y.Row(j)) < points.SquaredDistance(y.Row(i),
						y.Row(best))) {
					best = j
				}
			}
			if labels[i] == labels[best] {
				right++
			}
		}
		if right < 81 || !m.Status().Converged {
			t.Errorf("diagonal %v: %d of 90 points are nearest to one of their class, %+v", diagonal, right,
				m.Status())
		}
	}
}

func TestMMCModelFile(t *testing.T) {
	x, _, set := enginetest.Bands(t, 60, 4, 30, 5)
	m := mmcFitted(t, func(*MMC) {}, x, set)
	f := &model.File{}
	if err := m.Encode(f); err != nil {
		t.Fatal(err)
	}
	back, err := fitted.DecodeTraced[MMC](MMCMethod, f, fitted.ReadLinear)
	if err != nil {
		t.Fatal(err)
	}
	pairs := [][2]int{{0, 1}, {5, 17}}
	a, errA := m.Distances(context.Background(), enginetest.New(t, 0), x, pairs)
	b, errB := back.Distances(context.Background(), enginetest.New(t, 0), x, pairs)
	if errA != nil || errB != nil || !slices.Equal(a, b) || !slices.Equal(m.Trace(), back.Trace()) {
		t.Errorf("the model that was read differs from the one that was written (%v, %v)", errA, errB)
	}
}

func TestMMCBadInput(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	x, _, set := enginetest.Bands(t, 60, 4, 30, 6)
	none, err := links.New(60, nil)
	if err != nil {
		t.Fatal(err)
	}
	must, err := links.New(60, []links.Link{links.NewLink(0, 1, links.Must)})
	if err != nil {
		t.Fatal(err)
	}
	twins, err := links.New(60,
		[]links.Link{links.NewLink(0, 1, links.Must), links.NewLink(2, 3, links.Cannot)})
	if err != nil {
		t.Fatal(err)
	}
	pairs := &points.Dense{N: 60, D: 4, Data: slices.Clone(x.Data)}
	copy(pairs.Row(3), pairs.Row(2))
	same := &points.Dense{N: 60, D: 4, Data: make([]float64, 240)}
	nothing := func(*MMC) {}
	for name, c := range map[string]struct {
		change func(p *MMC)
		x      points.Points
		set    *links.Set
	}{
		"no links":     {nothing, x, none},
		"no cannot":    {nothing, x, must},
		"eps_rel":      {func(p *MMC) { p.EpsRel = -1 }, x, set},
		"rank_tol":     {func(p *MMC) { p.RankTol = 1 }, x, set},
		"tol":          {func(p *MMC) { p.Tol = 0 }, x, set},
		"max_iter":     {func(p *MMC) { p.MaxIter = 0 }, x, set},
		"few must":     {func(p *MMC) { p.EpsRel = 0 }, pairs, twins},
		"only twins":   {nothing, pairs, twins},
		"one place":    {nothing, same, set},
		"diagonal too": {func(p *MMC) { p.Diagonal = true }, same, set},
		"rows":         {nothing, x.Select([]int{1, 2}), set},
	} {
		l := MMCLearner{Params: param.Default[MMC]()}
		c.change(&l.Params)
		if _, err := l.Fit(ctx, eng, c.x, c.set); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	// A constant column, an identical pair and a limit on the steps do no harm: they are reported
	// or have no weight.
	for i := range 60 {
		pairs.Row(i)[2] = 7
	}
	more, err := links.Union(set, twins)
	if err != nil {
		t.Fatal(err)
	}
	for _, diagonal := range []bool{false, true} {
		m := mmcFitted(t, func(p *MMC) { p.Diagonal, p.MaxIter = diagonal, 1 }, pairs, more)
		if s := m.Status(); s.Converged || !strings.Contains(s.Message, "max_iter") || len(s.Notices) != 1 {
			t.Errorf("diagonal %v: status %+v", diagonal, s)
		}
		if v := m.Objective(); v-v != 0 {
			t.Errorf("diagonal %v: objective %v", diagonal, v)
		}
	}
	// Ten thousand features of a hundred points have at most 99 directions.
	wide, _, few := enginetest.Bands(t, 100, 10000, 50, 7)
	if m := mmcFitted(t, nothing, wide, few); m.Dim() > 99 {
		t.Errorf("%d dimensions of 100 points", m.Dim())
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (MMCLearner{Params: param.Default[MMC]()}).Fit(done, eng, x, set); !errors.Is(err,
		context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}
