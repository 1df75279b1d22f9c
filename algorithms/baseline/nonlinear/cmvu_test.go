package nonlinear

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
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

// spiral returns points on a spiral, and their positions along it.
func spiral(n int, seed uint64) (*points.Dense, []float64) {
	rng := rand.New(rand.NewPCG(seed, 4))
	x, along := &points.Dense{N: n, D: 2, Data: make([]float64, 2*n)}, make([]float64, n)
	for i := range n {
		a := 2 + 8*math.Sqrt((float64(i)+rng.Float64())/float64(n))
		along[i] = a*math.Sqrt(1+a*a)/2 + math.Asinh(a)/2 // the length of Archimedes' spiral r = a
		copy(x.Row(i), []float64{a * math.Cos(a), a * math.Sin(a)})
	}
	return x, along
}

// cmvuFitted fits with the defaults after a change of them.
var cmvuFitted = fittest.Changed[*CMVUModel](learner.New[CMVU], param.Default[CMVU]())

func unlinked(t enginetest.Fataler, n int) *links.Set {
	t.Helper()
	none, err := links.New(n, nil)
	if err != nil {
		t.Fatal(err)
	}
	return none
}

// TestCMVUUnfolds checks that the spiral unrolls without links: the first direction is the position
// along it, with its length.
func TestCMVUUnfolds(t *testing.T) {
	x, along := spiral(400, 1)
	m := cmvuFitted(t, func(p *CMVU) { p.Neighbors, p.Penalty = 6, 50 }, x, unlinked(t, 400))
	if !m.Status().Converged {
		t.Fatalf("status %+v", m.Status())
	}
	y := m.Coordinates()
	mean := 0.0
	for _, v := range along {
		mean += v / 400
	}
	var xy, xx, yy float64
	for i, v := range along {
		xy += (v - mean) * y.At(i, 0)
		xx += (v - mean) * (v - mean)
		yy += y.At(i, 0) * y.At(i, 0)
	}
	if c := math.Abs(xy) / math.Sqrt(xx*yy); c < 0.99 {
		t.Errorf("correlation of the first direction with the way along the spiral %g", c)
	}
	if s := math.Sqrt(yy / xx); s < 0.9 || s > 1.1 {
		t.Errorf("the spiral became %g times as long", s)
	}
}

// TestCMVUOptimum compares the objective with its definition, for K = Y Y', and checks that no
// other matrix V A V' has a lower one: the objective is convex, so small steps toward other
// matrices are enough.
func TestCMVUOptimum(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	propertytest.CheckSome(t, 20, func(rt *rapid.T) {
		const n, r = 60, 6
		seed := rapid.Uint64().Draw(rt, "seed")
		x, along := spiral(n, seed)
		labels := make([]string, n)
		for i, v := range along {
			if i%3 > 0 { // some have no links
				labels[i] = string('a' + rune(v/20))
			}
		}
		set, err := links.FromLabels(labels)
		if err != nil {
			rt.Fatal(err)
		}
		penalty := rapid.SampledFrom([]float64{0.5, 5, 50}).Draw(rt, "penalty")
		l := CMVULearner{Params: param.Default[CMVU]()}
		l.Params.Rank, l.Params.Penalty, l.Params.Tol, l.Params.MaxIter = r, penalty, 1e-8, 100000
		l.Params.Heat = rapid.Bool().Draw(rt, "heat")
		got, err := l.Fit(ctx, eng, x, set)
		if err != nil {
			rt.Fatal(err)
		}
		m := got.(*CMVUModel)
		if !m.Status().Converged {
			rt.Fatalf("status %+v", m.Status())
		}
		a, _, err := l.Params.Make(ctx, eng, m.Kernel(), x, blas.Matrix{})
		if err != nil {
			rt.Fatal(err)
		}
		// Weights and lengths of edges, each pair twice.
		total, unit := 0.0, 0.0
		for i := range n {
			a.Each(i, func(j int, w float64) {
				total += w
				unit += w * points.SquaredDistance(x.Row(i), x.Row(j))
			})
		}
		unit /= total
		component := set.Components()
		objective := func(y blas.Matrix, nu float64) float64 { // of K = Y Y' / unit
			value := 0.0
			for i := range n {
				a.Each(i, func(j int, w float64) {
					off := (points.SquaredDistance(y.Row(i), y.Row(j)) -
						points.SquaredDistance(x.Row(i), x.Row(j))) / unit
					value += nu * w / total * off * off
				})
			}
			mean := make([]float64, y.Cols)
			for i := range n {
				for c, v := range y.Row(i) {
					mean[c] += v / n
				}
			}
			same, alike := 0.0, 0.0
			for i := range n {
				for j := range n {
					if component[i] == component[j] {
						alike++
						for c := range mean {
							same += (y.At(i, c) - mean[c]) * (y.At(j, c) - mean[c]) / unit
						}
					}
				}
			}
			return value - same/alike
		}
		_, u, err := l.Params.coordinates(ctx, &learner.Fit{Eng: eng, X: x}, m.Kernel())
		if err != nil {
			rt.Fatal(err)
		}
		top := make([]float64, r)
		if err := eng.SymEig(ctx, side(eng, u, set), top, false); err != nil {
			rt.Fatal(err)
		}
		nu := penalty * top[r-1]
		best := objective(m.Coordinates(), nu)
		if math.Abs(best-m.Objective()) > 1e-7*(nu+math.Abs(best)) {
			rt.Fatalf("objective %.12g, by definition %.12g", m.Objective(), best)
		}
		rng := rand.New(rand.NewPCG(seed, 5))
		for range 20 { // K + s (K' - K) = Z Z' for Z = [sqrt(1-s) Y, sqrt(s) Y']
			s := math.Pow(10, -4*rng.Float64())
			f := blas.NewMatrix(r, 1+rng.IntN(r))
			for i := range f.Data {
				f.Data[i] = rng.NormFloat64()
			}
			other := blas.NewMatrix(n, f.Cols)
			eng.Backend().Gemm(false, false, math.Sqrt(unit/float64(r)), u, f, 0, other)
			z := blas.NewMatrix(n, m.Dim()+f.Cols)
			for i := range n {
				for c, v := range m.Coordinates().Row(i) {
					z.Set(i, c, math.Sqrt(1-s)*v)
				}
				for c, v := range other.Row(i) {
					z.Set(i, m.Dim()+c, math.Sqrt(s)*v)
				}
			}
			if v := objective(z, nu); v < best-1e-5*s*top[r-1]*float64(r)-1e-9*(nu+math.Abs(best)) {
				rt.Fatalf("a step of %g gives %.12g, below %.12g", s, v, best)
			}
		}
	})
}

// TestCMVULinksSeparate checks that links move points of one component to one side.
func TestCMVULinksSeparate(t *testing.T) {
	x, along := spiral(300, 3)
	labels := make([]string, 300)
	for i := range labels {
		labels[i] = string('a' + rune(int(along[i])%20/10)) // stripes
	}
	set, err := links.FromLabels(labels)
	if err != nil {
		t.Fatal(err)
	}
	// of class means, relative to the standard deviation of all points, in the first direction
	spread := func(m *CMVUModel) float64 {
		var sum, count [2]float64
		all := 0.0
		for i := range 300 {
			v := m.Coordinates().At(i, 0)
			sum[labels[i][0]-'a'] += v
			count[labels[i][0]-'a']++
			all += v * v / 300
		}
		return math.Abs(sum[0]/count[0]-sum[1]/count[1]) / math.Sqrt(all)
	}
	change := func(p *CMVU) { p.Rank, p.Penalty = 20, 1 }
	before, after := cmvuFitted(t, change, x, unlinked(t, 300)), cmvuFitted(t, change, x, set)
	if a, b := spread(before), spread(after); b < 2*a || b < 0.5 {
		t.Errorf("class means are %g spreads apart, %g without links", b, a)
	}
	if s := after.Status(); len(s.Notices) != 1 || !strings.Contains(s.Notices[0], "must-links only") {
		t.Errorf("notices %q", s.Notices)
	}
}

func TestCMVUModelFile(t *testing.T) {
	x, _ := spiral(100, 4)
	m := cmvuFitted(t, func(p *CMVU) { p.Dims = 2 }, x, unlinked(t, 100))
	f := &model.File{}
	if err := m.Encode(f); err != nil {
		t.Fatal(err)
	}
	back, err := DecodeCMVU(f)
	if err != nil {
		t.Fatal(err)
	}
	ctx, eng := context.Background(), enginetest.New(t, 0)
	other, _ := spiral(20, 5)
	a, errA := m.Embed(ctx, eng, other)
	b, errB := back.Embed(ctx, eng, other)
	if errA != nil || errB != nil || a.Cols != 2 || !slices.Equal(a.Data, b.Data) ||
		m.Objective() != back.Objective() || m.Residual() != back.Residual() {
		t.Errorf("the model that was read differs from the one that was written (%v, %v)", errA, errB)
	}
}

func TestCMVUBadInput(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	x, _ := spiral(40, 6)
	none := unlinked(t, 40)
	nothing := func(*CMVU) {}
	for name, c := range map[string]struct {
		change func(p *CMVU)
		x      points.Points
	}{
		"graph":     {func(p *CMVU) { p.Graph = graphkernel.Dense }, x},
		"given":     {func(p *CMVU) { p.Graph = graphkernel.Given }, x},
		"neighbors": {func(p *CMVU) { p.Neighbors = 40 }, x},
		"rank":      {func(p *CMVU) { p.Rank = 40 }, x},
		"less rank": {func(p *CMVU) { p.Rank = -1 }, x},
		"penalty":   {func(p *CMVU) { p.Penalty = 0 }, x},
		"dims":      {func(p *CMVU) { p.Dims = -1 }, x},
		"tol":       {func(p *CMVU) { p.Tol = math.Inf(1) }, x},
		"max_iter":  {func(p *CMVU) { p.MaxIter = 0 }, x},
		"one place": {nothing, &points.Dense{N: 40, D: 2, Data: make([]float64, 80)}},
		"rows":      {nothing, x.Select([]int{1, 2, 3})},
	} {
		l := CMVULearner{Params: param.Default[CMVU]()}
		c.change(&l.Params)
		if _, err := l.Fit(ctx, eng, c.x, none); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	// A limit on the steps, and parts of the graph, are reported.
	apart := &points.Dense{N: 40, D: 2, Data: slices.Clone(x.Data)}
	for i := range 15 {
		apart.Row(i)[0] += 1000
	}
	m := cmvuFitted(t, func(p *CMVU) { p.MaxIter, p.Neighbors = 1, 5 }, apart, none)
	if s := m.Status(); s.Converged || !strings.Contains(s.Message, "1 steps") || len(s.Notices) != 1 ||
		!strings.Contains(s.Notices[0], "2 parts") {
		t.Errorf("status %+v", s)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (CMVULearner{Params: param.Default[CMVU]()}).Fit(done, eng, x, none); !errors.Is(err,
		context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}

// TestCMVULooseParts checks that edges of negligible weight do not join parts: distances between
// the parts are not kept, and all other distances are as without these edges.
func TestCMVULooseParts(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 2)
	const n = 60
	x, _ := spiral(n, 3)
	for i := range n / 2 { // far apart, like the lengths of the edges between the halves
		x.Data[i*x.D] += 3000
	}
	set, err := links.New(n, []links.Link{{I: 1, J: 2, Sign: links.Must}})
	if err != nil {
		t.Fatal(err)
	}
	given := blas.NewMatrix(n, n)
	near := func(loose float64) *CMVUModel {
		for i := range n {
			for j := max(0, i-3); j < i; j++ {
				w := 1.0
				if (i < n/2) != (j < n/2) {
					w = loose
				}
				given.Set(i, j, w)
				given.Set(j, i, w)
			}
		}
		l := CMVULearner{Params: param.Default[CMVU](), Similarities: given}
		l.Params.Graph, l.Params.Rank, l.Params.Tol, l.Params.MaxIter = graphkernel.Given, 4, 1e-7, 100000
		m, err := l.Fit(ctx, eng, x, set)
		if err != nil {
			t.Fatalf("edges of %g: %v", loose, err)
		}
		return m.(*CMVUModel)
	}
	want := near(0)
	if len(want.Status().Notices) != 1 {
		t.Errorf("two parts: %q", want.Status().Notices)
	}
	for _, loose := range []float64{1e-17, 1e-30, 1e-200, 5e-324} {
		got := near(loose)
		if len(got.Status().Notices) != 2 || !strings.Contains(got.Status().Notices[0], "2 parts") {
			t.Errorf("edges of %g: %q", loose, got.Status().Notices)
		}
		a, b := got.Coordinates(), want.Coordinates()
		for i := range n {
			for j := range i {
				if (i < n/2) != (j < n/2) {
					continue
				}
				p, q := points.SquaredDistance(a.Row(i), a.Row(j)), points.SquaredDistance(b.Row(i), b.Row(j))
				if math.Abs(p-q) > 1e-3*(p+q) {
					t.Fatalf("edges of %g: squared distance of %d and %d is %g, without them %g", loose, i, j,
						p, q)
				}
			}
		}
	}
}
