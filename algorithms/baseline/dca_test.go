package baseline

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// covariances returns C_b and C_w of the raw features, by their definitions.
func covariances(x *points.Dense, set *links.Set) (between, within [][]float64) {
	component := set.Components()
	groups, order := map[int][]int{}, []int{}
	linked := map[int]bool{}
	for _, l := range slices.Concat(set.Must(), set.Cannot()) {
		linked[l.I], linked[l.J] = true, true
	}
	for i := range x.N {
		if linked[i] {
			if groups[component[i]] == nil {
				order = append(order, component[i])
			}
			groups[component[i]] = append(groups[component[i]], i)
		}
	}
	d := x.D
	zero := func() [][]float64 {
		m := make([][]float64, d)
		for i := range m {
			m[i] = make([]float64, d)
		}
		return m
	}
	between, within = zero(), zero()
	means := map[int][]float64{}
	for _, g := range order {
		mean := make([]float64, d)
		for _, i := range groups[g] {
			for c, v := range x.Row(i) {
				mean[c] += v / float64(len(groups[g]))
			}
		}
		means[g] = mean
		for _, i := range groups[g] {
			for a := range d {
				for b := range d {
					within[a][b] += (x.Row(i)[a] - mean[a]) * (x.Row(i)[b] - mean[b]) /
						float64(len(groups[g])) / float64(len(order))
				}
			}
		}
	}
	rivals := map[[2]int]bool{}
	for _, l := range set.Cannot() {
		if p, q := component[l.I], component[l.J]; p != q {
			rivals[[2]int{p, q}], rivals[[2]int{q, p}] = true, true
		}
	}
	for pair := range rivals {
		for a := range d {
			for b := range d {
				between[a][b] += (means[pair[0]][a] - means[pair[1]][a]) *
					(means[pair[0]][b] - means[pair[1]][b]) / float64(len(rivals))
			}
		}
	}
	return between, within
}

func form(m [][]float64, u, v []float64) float64 {
	sum := 0.0
	for a, row := range m {
		for b, w := range row {
			sum += u[a] * w * v[b]
		}
	}
	return sum
}

// TestDCADirections checks that the directions diagonalize both matrices, with C_w + eps C_b = 1,
// and that the first has the largest ratio of all.
func TestDCADirections(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		x, _, set := enginetest.Bands(rt, 60, 4, 30, rapid.Uint64().Draw(rt, "seed"))
		l := DCALearner{Params: param.Default[DCA]()}
		l.Params.EpsRel = rapid.SampledFrom([]float64{1e-9, 1e-2, 1}).Draw(rt, "eps")
		m := fittest.Fit[*DCAModel](rt, l, x, set)
		w, _ := m.Transform()
		between, within := covariances(x, set)
		mean := 0.0 // of the eigenvalues of C_w relative to C_b
		for r := range w.Rows {
			mean += form(within, w.Row(r), w.Row(r)) / form(between, w.Row(r), w.Row(r)) / float64(w.Rows)
		}
		ratio := func(v []float64) float64 { return form(between, v, v) / form(within, v, v) }
		for r := range w.Rows {
			for s := range r {
				b, c := form(between, w.Row(r), w.Row(s)), form(within, w.Row(r), w.Row(s))
				size := math.Sqrt(form(between, w.Row(r), w.Row(r)) * form(between, w.Row(s), w.Row(s)))
				if math.Abs(b) > 1e-6*size || math.Abs(c) > 1e-6 {
					rt.Fatalf("directions %d and %d: %g under C_b, %g under C_w", r, s, b, c)
				}
			}
			if one := form(within, w.Row(r), w.Row(r)) +
				l.Params.EpsRel*mean*form(between, w.Row(r), w.Row(r)); math.Abs(one-1) > 1e-6 {
				rt.Fatalf("direction %d has C_w + eps C_b = %g", r, one)
			}
			if r > 0 && ratio(w.Row(r)) > ratio(w.Row(r-1))*(1+1e-9) {
				rt.Fatalf("ratio %g after %g", ratio(w.Row(r)), ratio(w.Row(r-1)))
			}
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for range 100 {
			v := make([]float64, 4)
			for k := range v {
				v[k] = w.Row(0)[k] + math.Pow(10, -4*rng.Float64())*rng.NormFloat64()
			}
			if ratio(v) > ratio(w.Row(0))*(1+1e-6) {
				rt.Fatalf("ratio %g, %g of the first direction", ratio(v), ratio(w.Row(0)))
			}
		}
	})
}

// TestDCAModesAgree checks that kernel mode with a linear kernel is linear mode, for new points,
// too.
func TestDCAModesAgree(t *testing.T) {
	x, _, set := enginetest.Bands(t, 50, 4, 30, 2)
	other, _, _ := enginetest.Bands(t, 10, 4, 2, 3)
	l := DCALearner{Params: param.Default[DCA]()}
	flat := fittest.Fit[*DCAModel](t, l, x, set)
	var err error
	if l.Kernel, err = kernel.Parse("linear"); err != nil {
		t.Fatal(err)
	}
	l.Params.RankTol = 1e-9
	curved := fittest.Fit[*DCAModel](t, l, x, set)
	pairs := [][2]int{{0, 1}, {2, 7}, {3, 9}}
	a, errA := flat.Distances(context.Background(), enginetest.New(t, 0), other, pairs)
	b, errB := curved.Distances(context.Background(), enginetest.New(t, 0), other, pairs)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	for k := range a {
		if math.Abs(a[k]-b[k]) > 1e-6*a[k] {
			t.Errorf("pair %d is %.12g apart, with the kernel %.12g", k, a[k], b[k])
		}
	}
}

func TestDCAModelFile(t *testing.T) {
	x, _, set := enginetest.Bands(t, 40, 4, 20, 5)
	for _, text := range []string{"", "rbf:sigma=mean"} {
		l := DCALearner{Params: param.Default[DCA]()}
		if text != "" {
			var err error
			if l.Kernel, err = kernel.Parse(text); err != nil {
				t.Fatal(err)
			}
		}
		m := fittest.Fit[*DCAModel](t, l, x, set)
		f := &model.File{}
		if err := m.Encode(f); err != nil {
			t.Fatal(err)
		}
		back, err := fitted.Decode[DCA](DCAMethod, f, fitted.ReadEither)
		if err != nil {
			t.Fatal(err)
		}
		a, errA := m.Embed(context.Background(), enginetest.New(t, 0), x)
		b, errB := back.Embed(context.Background(), enginetest.New(t, 0), x)
		if errA != nil || errB != nil || !slices.Equal(a.Data, b.Data) ||
			back.Kernel().String() != m.Kernel().String() {
			t.Errorf("%q: the model that was read differs from the one that was written (%v, %v)", text, errA,
				errB)
		}
	}
}

func TestDCABadInput(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	x, _, set := enginetest.Bands(t, 40, 4, 20, 6)
	list := func(l ...links.Link) *links.Set {
		s, err := links.New(40, l)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	inside := list(links.NewLink(0, 1, links.Must), links.NewLink(1, 2, links.Must),
		links.NewLink(0, 2, links.Cannot))
	twins := &points.Dense{N: 40, D: 4, Data: slices.Clone(x.Data)}
	copy(twins.Row(1), twins.Row(0))
	nothing := func(*DCA) {}
	for name, c := range map[string]struct {
		change func(p *DCA)
		x      points.Points
		set    *links.Set
	}{
		"no links": {nothing, x, list()},
		"no must":  {nothing, x, list(links.NewLink(0, 1, links.Cannot))},
		"inside":   {nothing, x, inside},
		"equal": {nothing, twins,
			list(links.NewLink(0, 1, links.Must), links.NewLink(0, 2, links.Cannot))},
		"eps_rel":   {func(p *DCA) { p.EpsRel = 0 }, x, set},
		"dims":      {func(p *DCA) { p.Dims = -1 }, x, set},
		"rank_tol":  {func(p *DCA) { p.RankTol = 1 }, x, set},
		"one place": {nothing, &points.Dense{N: 40, D: 4, Data: make([]float64, 160)}, set},
		"rows":      {nothing, x.Select([]int{1, 2}), set},
	} {
		l := DCALearner{Params: param.Default[DCA]()}
		c.change(&l.Params)
		if _, err := l.Fit(ctx, eng, c.x, c.set); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	// Constant columns, and more features than points, are allowed.
	for i := range 40 {
		twins.Row(i)[2] = 7
	}
	fittest.Fit[*DCAModel](t, DCALearner{Params: param.Default[DCA]()}, twins, set)
	wide, _, few := enginetest.Bands(t, 60, 10000, 30, 7)
	if m := fittest.Fit[*DCAModel](t, DCALearner{Params: param.Default[DCA]()}, wide, few); m.Dim() > 59 {
		t.Errorf("%d dimensions of 60 points", m.Dim())
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (DCALearner{Params: param.Default[DCA]()}).Fit(done, eng, x, set); !errors.Is(err,
		context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}
