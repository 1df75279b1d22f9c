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
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// bands returns points of three classes, and links that state all classes.
func bands(t enginetest.Fataler, n, d int, seed uint64) (*points.Dense, []string, *links.Set) {
	t.Helper()
	x, labels, _ := enginetest.Bands(t, n, d, 1, seed)
	set, err := links.FromLabels(labels)
	if err != nil {
		t.Fatal(err)
	}
	return x, labels, set
}

// ncaFitted fits with the defaults and a change of them.
var ncaFitted = fittest.Changed[*NCAModel](learner.New[NCA], param.Default[NCA]())

// TestNCAGradient compares the value with its definition, over points known to be of the same class
// or of different ones, and the gradient with differences; with more points than a block, and with
// classes that are not all known to differ.
func TestNCAGradient(t *testing.T) {
	for _, n := range []int{24, 420} {
		x, labels, whole := bands(t, n, 3, 1)
		half := slices.Clone(labels)
		for i := range half {
			if i%4 == 3 {
				half[i] = ""
			}
		}
		some, err := links.FromLabels(half)
		if err != nil {
			t.Fatal(err)
		}
		var kept []links.Link // two of the three cannot-links
		kept = append(append(kept, some.Must()...), some.Cannot()[:2]...)
		partly, err := links.New(n, kept)
		if err != nil {
			t.Fatal(err)
		}
		for _, set := range []*links.Set{whole, partly} {
			ctx, eng := context.Background(), enginetest.New(t, 0)
			pc, err := linear.NewPrincipal(ctx, eng, x, 1e-10)
			if err != nil {
				t.Fatal(err)
			}
			c := linear.NewClasses(set)
			p, err := newNCAProblem(ctx, eng, pc, c, 2)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(7, 1))
			a, gradient, other := slices.Clone(p.start), make([]float64, len(p.start)),
				make([]float64, len(p.start))
			for i := range a {
				a[i] += 0.3 * rng.NormFloat64()
			}
			value, err := p.At(a, gradient)
			if err != nil {
				t.Fatal(err)
			}
			want := 0.0
			for i := range c.Rows {
				same, all := 0.0, 0.0
				for j := range c.Rows {
					if i == j || c.Of[i] != c.Of[j] && !c.Apart(i, j) {
						continue
					}
					squared := 0.0
					for r := range 2 {
						v := 0.0
						for k := range p.Z.Cols {
							v += a[r*p.Z.Cols+k] * (p.Z.At(i, k) - p.Z.At(j, k))
						}
						squared += v * v
					}
					if all += math.Exp(-squared); c.Of[i] == c.Of[j] {
						same += math.Exp(-squared)
					}
				}
				want -= same / all / float64(len(c.Rows))
			}
			if math.Abs(value-want) > 1e-12 {
				t.Errorf("value %.15g, by definition %.15g", value, want)
			}
			const h = 1e-6
			for i := range a {
				was := a[i]
				a[i] = was + h
				up, _ := p.At(a, other)
				a[i] = was - h
				down, _ := p.At(a, other)
				a[i] = was
				if d := (up - down) / (2 * h); math.Abs(d-gradient[i]) > 1e-8 {
					t.Errorf("gradient %d is %g, by differences %g", i, gradient[i], d)
				}
			}
		}
	}
}

// TestNCARank checks that the default learns in as many leading principal directions as an eighth
// of the linked points, rounded up: its coordinates are those of a fit with that rank.
func TestNCARank(t *testing.T) {
	propertytest.CheckSome(t, 10, func(rt *rapid.T) {
		n := rapid.IntRange(9, 60).Draw(rt, "n")
		x, _, set := bands(rt, n, 6, rapid.Uint64().Draw(rt, "seed"))
		rank := (n + 7) / 8
		ctx, eng := context.Background(), enginetest.New(rt, 0)
		chosen, err := ncaFitted(rt, func(*NCA) {}, x, set).Embed(ctx, eng, x)
		if err != nil {
			rt.Fatal(err)
		}
		given, err := ncaFitted(rt, func(p *NCA) { p.Rank = rank }, x, set).Embed(ctx, eng, x)
		if err != nil {
			rt.Fatal(err)
		}
		if chosen.Cols != min(6, rank) || !slices.Equal(chosen.Data, given.Data) {
			rt.Fatalf("%d linked points: %d directions by default, %d with rank = %d", n, chosen.Cols,
				given.Cols, rank)
		}
	})
}

// TestNCALearns checks that the objective rises, that it is the mean probability under the returned
// map, and that new points find their class.
func TestNCALearns(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		x, labels, set := bands(rt, 60, 4, rapid.Uint64().Draw(rt, "seed"))
		dims := rapid.SampledFrom([]int{0, 1, 2, 3}).Draw(rt, "dims")
		m := ncaFitted(rt, func(p *NCA) { p.Dims = dims }, x, set)
		// In fewer dimensions the ascent may end in a local maximum.
		if trace := m.Trace(); !slices.IsSorted(trace) || m.Objective() > 1 || dims == 0 &&
			m.Objective() < 0.75 {
			rt.Fatalf("objectives %v", trace)
		}
		y, err := m.Embed(context.Background(), enginetest.New(rt, 0), x)
		if err != nil {
			rt.Fatal(err)
		}
		mean := 0.0
		for i := range y.Rows {
			same, all := 0.0, 0.0
			for j := range y.Rows {
				if i != j {
					v := math.Exp(-points.SquaredDistance(y.Row(i), y.Row(j)))
					if all += v; labels[i] == labels[j] {
						same += v
					}
				}
			}
			mean += same / all / float64(y.Rows)
		}
		if math.Abs(mean-m.Objective()) > 1e-6 {
			rt.Fatalf("objective %.10g, under the map %.10g", m.Objective(), mean)
		}
	})
}

func TestNCAModelFile(t *testing.T) {
	x, _, set := bands(t, 40, 4, 5)
	m := ncaFitted(t, func(p *NCA) { p.Dims = 2 }, x, set)
	f := &model.File{}
	if err := m.Encode(f); err != nil {
		t.Fatal(err)
	}
	back, err := fitted.DecodeTraced[NCA](NCAMethod, f, fitted.ReadLinear)
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

func TestNCABadInput(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	x, _, set := bands(t, 40, 4, 6)
	none, err := links.New(40, nil)
	if err != nil {
		t.Fatal(err)
	}
	cannot, err := links.New(40, []links.Link{links.NewLink(0, 1, links.Cannot)})
	if err != nil {
		t.Fatal(err)
	}
	nothing := func(*NCA) {}
	for name, c := range map[string]struct {
		change func(p *NCA)
		x      points.Points
		set    *links.Set
	}{
		"no links":  {nothing, x, none},
		"no must":   {nothing, x, cannot},
		"dims":      {func(p *NCA) { p.Dims = 5 }, x, set},
		"less dims": {func(p *NCA) { p.Dims = -1 }, x, set},
		"rank":      {func(p *NCA) { p.Rank = -2 }, x, set}, // -1 is RankEighth
		"rank_tol":  {func(p *NCA) { p.RankTol = 1 }, x, set},
		"tol":       {func(p *NCA) { p.Tol = 0 }, x, set},
		"contract":  {func(p *NCA) { p.Contractions = -1 }, x, set},
		"max_iter":  {func(p *NCA) { p.MaxIter = 0 }, x, set},
		"one place": {nothing, &points.Dense{N: 40, D: 4, Data: make([]float64, 160)}, set},
		"rows":      {nothing, x.Select([]int{1, 2}), set},
	} {
		l := NCALearner{Params: param.Default[NCA]()}
		c.change(&l.Params)
		if _, err := l.Fit(ctx, eng, c.x, c.set); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	// Equal points, constant columns and few steps do no harm.
	pairs := &points.Dense{N: 40, D: 4, Data: slices.Clone(x.Data)}
	for i := range 40 {
		pairs.Row(i)[2] = 7
	}
	for i := range 10 {
		copy(pairs.Row(3*i+3), pairs.Row(0))
		copy(pairs.Row(3*i+1), pairs.Row(0))
	}
	m := ncaFitted(t, func(p *NCA) { p.MaxIter = 1 }, pairs, set)
	if s := m.Status(); s.Converged || !strings.Contains(s.Message, "max_iter") ||
		m.Objective()-m.Objective() != 0 {
		t.Errorf("status %+v, objective %v", s, m.Objective())
	}
	// Points are so far apart that all exponentials vanish except the nearest.
	far := &points.Dense{N: 40, D: 4, Data: slices.Clone(x.Data)}
	for i := range far.Data {
		far.Data[i] *= 1e8
	}
	if m := ncaFitted(t, nothing, far, set); !(m.Objective() > 0.8) {
		t.Errorf("objective %v of points that are far apart", m.Objective())
	}
	wide, _, few := bands(t, 60, 10000, 7)
	if m := ncaFitted(t, func(p *NCA) { p.MaxIter = 3 }, wide, few); m.Dim() > 59 {
		t.Errorf("%d dimensions of 60 points", m.Dim())
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (NCALearner{Params: param.Default[NCA]()}).Fit(done, eng, x, set); !errors.Is(err,
		context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}

// BenchmarkNCAEvaluation times the objective and its gradient: 2304 points in 18 dimensions.
func BenchmarkNCAEvaluation(b *testing.B) {
	x, _, set := bands(b, 2304, 18, 1)
	ctx, eng := context.Background(), enginetest.New(b, 0)
	pc, err := linear.NewPrincipal(ctx, eng, x, 1e-10)
	if err != nil {
		b.Fatal(err)
	}
	p, err := newNCAProblem(ctx, eng, pc, linear.NewClasses(set), 0)
	if err != nil {
		b.Fatal(err)
	}
	gradient := make([]float64, len(p.start))
	for b.Loop() {
		if _, err := p.At(p.start, gradient); err != nil {
			b.Fatal(err)
		}
	}
}
