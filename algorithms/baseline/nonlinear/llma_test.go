package nonlinear

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/solvers/lle"
)

// corners returns points in four blobs with links; opposite blobs are of one class.
func corners(t enginetest.Fataler, n, pairs int, seed uint64) (*points.Dense, []string, *links.Set) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 4))
	x, labels := &points.Dense{N: n, D: 2, Data: make([]float64, 2*n)}, make([]string, n)
	for i := range n {
		a, b := i%2, i/2%2
		labels[i] = fmt.Sprint((a + b) % 2)
		copy(x.Row(i), []float64{float64(4*a) + 0.5*rng.NormFloat64(), float64(4*b) + 0.5*rng.NormFloat64()})
	}
	set, err := links.SampleByCount(labels, pairs, 0, seed)
	if err != nil {
		t.Fatal(err)
	}
	return x, labels, set
}

// llmaFitted fits with the defaults and a change of them.
var llmaFitted = fittest.Changed[*LLMAModel](learner.New[LLMA], param.Default[LLMA]())

// objective returns, by the definition, the energy of the coordinates of the training points, and
// the mean square of each direction.
func objective(t enginetest.Fataler, p LLMA, x *points.Dense, set *links.Set,
	y blas.Matrix) (energy, square []float64) {
	t.Helper()
	ctx, eng := context.Background(), enginetest.New(t, 0)
	near, err := graph.Nearest(ctx, eng, kernel.Linear(), x, p.Neighbors)
	if err != nil {
		t.Fatal(err)
	}
	w, err := lle.Weights(ctx, eng, x.N, near.K, lle.OfVectors(eng, x, near.Index, near.K),
		lle.DefaultRegularization)
	if err != nil {
		t.Fatal(err)
	}
	energy, square = make([]float64, y.Cols), make([]float64, y.Cols)
	for c := range y.Cols {
		for _, l := range set.Must() {
			d := y.At(l.I, c) - y.At(l.J, c)
			energy[c] += d * d / float64(len(set.Must()))
		}
		for i := range x.N {
			index, _ := near.Of(i)
			d := y.At(i, c)
			for a, j := range index {
				d -= w.At(i, a) * y.At(int(j), c)
			}
			energy[c] += p.Lambda * d * d / float64(x.N)
			square[c] += y.At(i, c) * y.At(i, c) / float64(x.N)
		}
	}
	return energy, square
}

// TestLLMADirections checks that the training points have mean 0, that directions are sorted by
// energy, and that no other map of the family has less energy relative to its variance, including
// the ridge: neither random maps nor maps near the first direction.
func TestLLMADirections(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		ctx, eng := context.Background(), enginetest.New(rt, 0)
		x, _, set := corners(rt, 60, 12, rapid.Uint64().Draw(rt, "seed"))
		p := param.Default[LLMA]()
		p.Lambda, p.Dims, p.Anchors = rapid.SampledFrom([]float64{0, 0.3, 3}).Draw(rt, "lambda"), 4, 15
		m := llmaFitted(rt, func(q *LLMA) { *q = p }, x, set)
		y, err := m.Embed(ctx, eng, x)
		if err != nil {
			rt.Fatal(err)
		}
		for c := range y.Cols {
			mean := 0.0
			for i := range y.Rows {
				mean += y.At(i, c) / float64(y.Rows)
			}
			if math.Abs(mean) > 1e-9 {
				rt.Fatalf("direction %d has the mean %g", c, mean)
			}
		}
		energy, square := objective(rt, p, x, set, y)
		// The quotient with the ridge, of any coefficients: a'N a / a'(F'F / n + ridge) a.
		f, _, err := p.family(ctx, &learner.Fit{Eng: eng, Dense: x, Links: set})
		if err != nil {
			rt.Fatal(err)
		}
		trace := 0.0
		for _, v := range f.Data {
			trace += v * v / float64(f.Rows)
		}
		ridge := p.Ridge * trace / float64(f.Cols)
		quotient := func(a []float64) float64 {
			z, size := blas.NewMatrix(f.Rows, 1), 0.0
			for _, v := range a {
				size += v * v
			}
			for i := range f.Rows {
				for k, v := range a {
					z.Set(i, 0, z.At(i, 0)+v*f.At(i, k))
				}
			}
			e, s := objective(rt, p, x, set, z)
			return e[0] / (s[0] + ridge*size)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		// The first direction has variance + ridge = 1, so its energy is its quotient.
		for c := 1; c < y.Cols; c++ {
			if energy[c] < energy[c-1]*(1-1e-6)-1e-12 {
				rt.Fatalf("energies %v", energy)
			}
		}
		if square[0] > 1+1e-9 {
			rt.Fatalf("variance %g of the first direction", square[0])
		}
		for range 30 {
			a := make([]float64, f.Cols)
			for k := range a {
				a[k] = rng.NormFloat64()
			}
			if v := quotient(a); v < energy[0]*(1-1e-9)-1e-12 {
				rt.Fatalf("a map has the quotient %g, the first direction %g", v, energy[0])
			}
		}
	})
}

// TestLLMAChosenDirections checks that the default keeps the leading directions whose energy, by
// its definition, is below (1 + lambda) / 4, at most 20, and 20 if fewer than two are below; with
// the coordinates that a fit of 20 directions has.
func TestLLMAChosenDirections(t *testing.T) {
	chosen := map[int]bool{}
	propertytest.Check(t, func(rt *rapid.T) {
		ctx, eng := context.Background(), enginetest.New(rt, 0)
		x, _, set := corners(rt, 60, rapid.IntRange(2, 60).Draw(rt, "pairs"), rapid.Uint64().Draw(rt, "seed"))
		p := param.Default[LLMA]()
		p.Lambda = rapid.SampledFrom([]float64{0, 0.3, 1, 3}).Draw(rt, "lambda")
		p.Anchors = rapid.SampledFrom([]int{1, 15, 50}).Draw(rt, "anchors")
		embedded := func(dims int) blas.Matrix {
			p.Dims = dims
			y, err := llmaFitted(rt, func(q *LLMA) { *q = p }, x, set).Embed(ctx, eng, x)
			if err != nil {
				rt.Fatal(err)
			}
			return y
		}
		y, all := embedded(0), embedded(20)
		f, _, err := p.family(ctx, &learner.Fit{Eng: eng, Dense: x, Links: set})
		if err != nil {
			rt.Fatal(err)
		}
		if all.Cols != min(20, f.Cols) || y.Cols < 1 || y.Cols > all.Cols {
			rt.Fatalf("%d directions, at most %d of %d", y.Cols, all.Cols, f.Cols)
		}
		chosen[y.Cols] = true
		for i := range y.Rows {
			for c, v := range y.Row(i) { // OpenBLAS sums products of other widths in another order
				if math.Abs(v-all.At(i, c)) > 1e-9*(1+math.Abs(v)) {
					rt.Fatalf("coordinate (%d, %d) is %v: want %v, as with 20 directions", i, c, v,
						all.At(i, c))
				}
			}
		}
		energy, _ := objective(rt, p, x, set, all)
		limit, sure, perhaps := (1+p.Lambda)/4, 0, 0 // rounding decides for energies at the limit
		for _, v := range energy {
			if v < limit-1e-6 {
				sure++
			}
			if v < limit+1e-6 {
				perhaps++
			}
		}
		if all.Cols == y.Cols && sure < 2 {
			return
		}
		if y.Cols < max(2, sure) || y.Cols > perhaps {
			rt.Fatalf("%d directions with energies %v and the limit %g", y.Cols, energy, limit)
		}
	})
	if len(chosen) < 5 {
		t.Errorf("only the numbers of directions %v occurred", chosen)
	}
}

// TestLLMAAnchors checks that the default has windows around a third of the must-linked points,
// rounded up, and at most 50.
func TestLLMAAnchors(t *testing.T) {
	for _, c := range []struct{ links, want int }{{1, 1}, {2, 2}, {30, 20}, {75, 50}, {90, 50}} {
		x := enginetest.Normal(rand.New(rand.NewPCG(1, uint64(c.links))), 2*c.links+20, 2, 0)
		pairs := make([]links.Link, c.links)
		for k := range pairs {
			pairs[k] = links.NewLink(2*k, 2*k+1, links.Must)
		}
		set := enginetest.Links(t, x.N, pairs)
		if m := llmaFitted(t, func(*LLMA) {}, x, set); m.Support() != c.want {
			t.Errorf("%d windows for %d linked points: want %d", m.Support(), 2*c.links, c.want)
		}
	}
}

// TestLLMALearns checks that opposite corners come together, also for new points, which no linear
// map can do. A window around every linked point keeps the first direction from depending on
// rounding.
func TestLLMALearns(t *testing.T) {
	x, labels, set := corners(t, 200, 80, 3)
	other, classes, _ := corners(t, 100, 5, 4)
	m := llmaFitted(t, func(p *LLMA) { p.Dims, p.Anchors = 1, 200 }, x, set)
	ctx, eng := context.Background(), enginetest.New(t, 0)
	train, errA := m.Embed(ctx, eng, x)
	y, errB := m.Embed(ctx, eng, other)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	right := 0
	for i := range y.Rows {
		best := 0
		for j := range x.N {
			if math.Abs(y.At(i, 0)-train.At(j, 0)) < math.Abs(y.At(i, 0)-train.At(best, 0)) {
				best = j
			}
		}
		if labels[best] == classes[i] {
			right++
		}
	}
	if right < 95 {
		t.Errorf("%d of 100 new points are nearest to one of their class along the first direction", right)
	}
}

func TestLLMAModelFile(t *testing.T) {
	x, _, set := corners(t, 60, 20, 5)
	m := llmaFitted(t, func(*LLMA) {}, x, set)
	f := &model.File{}
	if err := m.Encode(f); err != nil {
		t.Fatal(err)
	}
	back, err := DecodeLLMA(f)
	if err != nil {
		t.Fatal(err)
	}
	other, _, _ := corners(t, 20, 2, 6)
	a, errA := m.Embed(context.Background(), enginetest.New(t, 0), other)
	b, errB := back.Embed(context.Background(), enginetest.New(t, 0), other)
	if errA != nil || errB != nil || !slices.Equal(a.Data, b.Data) {
		t.Errorf("the model that was read differs from the one that was written (%v, %v)", errA, errB)
	}
	f.SetFloat64s("llma.expansion", make([]float64, 2*m.Support()), 2, m.Support())
	f.SetFloat64s("llma.center", make([]float64, 2))
	if _, err := DecodeLLMA(f); !fault.IsInput(err) {
		t.Errorf("parts of different sizes: error %v, want one of the input", err)
	}
}

// TestLLMAManyDirections checks that too many directions are reduced to as many as there are: the
// features, and a window around every linked point.
func TestLLMAManyDirections(t *testing.T) {
	x, _, set := corners(t, 40, 10, 6)
	linked := map[int]bool{}
	for _, l := range set.Must() {
		linked[l.I], linked[l.J] = true, true
	}
	for _, l := range set.Cannot() {
		linked[l.I], linked[l.J] = true, true
	}
	m := llmaFitted(t, func(p *LLMA) { p.Dims = 1000 }, x, set)
	if most := x.D * (1 + len(linked)); m.Dim() < x.D || m.Dim() > most {
		t.Errorf("%d directions: want %d to %d", m.Dim(), x.D, most)
	}
}

func TestLLMABadInput(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	x, _, set := corners(t, 40, 10, 6)
	none, err := links.New(40, []links.Link{links.NewLink(0, 1, links.Cannot)})
	if err != nil {
		t.Fatal(err)
	}
	nothing := func(*LLMA) {}
	for name, c := range map[string]struct {
		change func(p *LLMA)
		x      points.Points
		set    *links.Set
	}{
		"no must":   {nothing, x, none},
		"sigma":     {func(p *LLMA) { p.Sigma = "-1" }, x, set},
		"anchors":   {func(p *LLMA) { p.Anchors = -1 }, x, set},
		"neighbors": {func(p *LLMA) { p.Neighbors = 40 }, x, set},
		"few":       {func(p *LLMA) { p.Neighbors = 0 }, x, set},
		"lambda":    {func(p *LLMA) { p.Lambda = -1 }, x, set},
		"ridge":     {func(p *LLMA) { p.Ridge = 0 }, x, set},
		"dims":      {func(p *LLMA) { p.Dims = -1 }, x, set}, // 0 chooses them by their energy
		"rank_tol":  {func(p *LLMA) { p.RankTol = 1 }, x, set},
		"one place": {nothing, &points.Dense{N: 40, D: 2, Data: make([]float64, 80)}, set},
		"rows":      {nothing, x.Select([]int{1, 2}), set},
	} {
		l := LLMALearner{Params: param.Default[LLMA]()}
		c.change(&l.Params)
		if _, err := l.Fit(ctx, eng, c.x, c.set); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (LLMALearner{Params: param.Default[LLMA]()}).Fit(done, eng, x, set); !errors.Is(err,
		context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}
