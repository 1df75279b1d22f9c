package npkl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// delta returns the matrix of the graph energy by its definition, for unweighted nearest neighbors.
func delta(x *points.Dense, k int, d float64) [][]float64 {
	n := x.N
	s := make([][]float64, n)
	for i := range s {
		s[i] = make([]float64, n)
	}
	for i := range n {
		order := make([]int, 0, n)
		squared := make([]float64, n)
		for j := range n {
			for a := range x.D {
				v := x.Data[i*x.D+a] - x.Data[j*x.D+a]
				squared[j] += v * v
			}
			if j != i {
				order = append(order, j)
			}
		}
		slices.SortStableFunc(order, func(a, b int) int {
			switch {
			case squared[a] < squared[b]:
				return -1
			case squared[a] > squared[b]:
				return 1
			}
			return 0
		})
		for _, j := range order[:k] {
			s[i][j], s[j][i] = 1, 1
		}
	}
	degree := make([]float64, n)
	for i := range s {
		for _, v := range s[i] {
			degree[i] += v
		}
	}
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, n)
		for j := range out[i] {
			out[i][j] = -s[i][j] / math.Sqrt(degree[i]*degree[j])
			if i == j {
				out[i][j] = 1 + d
			}
		}
	}
	return out
}

func gramOf(v blas.Matrix) [][]float64 {
	z := make([][]float64, v.Rows)
	for i := range z {
		z[i] = make([]float64, v.Rows)
		for j := range z[i] {
			z[i][j] = blas.Dot(v.Row(i), v.Row(j))
		}
	}
	return z
}

func definition(e, z [][]float64, set *links.Set, p Params) float64 {
	sum := 0.0
	for i := range e {
		for j := range e {
			sum += e[i][j] * z[i][j]
		}
	}
	for _, l := range slices.Concat(set.Must(), set.Cannot()) {
		f := float64(l.Sign) * z[l.I][l.J]
		switch p.Loss {
		case Square:
			sum += p.C * (1 - f) * (1 - f)
		case SquaredHinge:
			sum += p.C * max(0, 1-f) * max(0, 1-f)
		default:
			sum += p.C * 2 * max(0, 1-f)
		}
	}
	return sum
}

// TestCertifiedOptimum checks the optimality conditions, evaluated from the definitions: G Z = 0
// and G positive semidefinite, which suffice for a convex problem. Every start gives the same
// optimum.
func TestCertifiedOptimum(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(12, 40).Draw(t, "n")
		x, _, set := enginetest.Blobs(t, n, rapid.IntRange(2, 4).Draw(t, "d"),
			rapid.IntRange(3, 12).Draw(t, "pairs"), rapid.Uint64().Draw(t, "seed"))
		l := Learner{Params: DefaultParams(), Seed: rapid.Uint64().Draw(t, "start")}
		l.Params.Loss = rapid.SampledFrom([]Loss{Square, SquaredHinge}).Draw(t, "loss")
		l.Params.C, l.Params.Delta = rapid.SampledFrom([]float64{0.7, 1, 5}).Draw(t, "C"),
			rapid.SampledFrom([]float64{0.1, 0.3}).Draw(t, "delta")
		l.Params.Neighbors, l.Params.Tol, l.Params.MaxIter = rapid.IntRange(2, 6).Draw(t, "neighbors"), 1e-11,
			20000
		m := fittest.Fit[*Model](t, l, x, set)
		if !m.Certified() {
			t.Fatalf("not certified: %s", m.Status().Message)
		}
		e := delta(x, l.Params.Neighbors, l.Params.Delta)
		z := gramOf(m.Coordinates())
		want := definition(e, z, set, l.Params)
		if !(math.Abs(m.Objective()-want) <= 1e-9*want) {
			t.Fatalf("objective %.15g, by definition %.15g", m.Objective(), want)
		}
		g := blas.NewMatrix(n, n)
		for i := range e {
			copy(g.Row(i), e[i])
		}
		for _, link := range slices.Concat(set.Must(), set.Cannot()) {
			sign := float64(link.Sign)
			h := l.Params.C * sign * (1 - sign*z[link.I][link.J])
			if l.Params.Loss == SquaredHinge && sign*z[link.I][link.J] >= 1 {
				h = 0
			}
			g.Set(link.I, link.J, g.At(link.I, link.J)-h)
			g.Set(link.J, link.I, g.At(link.J, link.I)-h)
		}
		for i := range n {
			for c := range m.Dim() {
				sum := 0.0
				for j := range n {
					sum += g.At(i, j) * m.Coordinates().At(j, c)
				}
				if math.Abs(sum) > 1e-7 {
					t.Fatalf("G V is %g at (%d, %d)", sum, i, c)
				}
			}
		}
		w := make([]float64, n)
		if err := enginetest.New(t, 0).SymEig(context.Background(), g, w, false); err != nil {
			t.Fatal(err)
		}
		if w[0] < -2*certified*w[n-1] {
			t.Fatalf("G has the eigenvalue %g", w[0])
		}
		l.Seed++
		if again := fittest.Fit[*Model](t, l, x,
			set).Objective(); !(math.Abs(again-want) <= 1e-8*want+1e-5*certified) {
			t.Fatalf("objective %.12g from another start, %.12g from this one", again, want)
		}
	})
}

// TestIsTheSemidefiniteProgram compares the optimum with that of the semidefinite program, which
// another algorithm solves. The optimum of the hinge is only as precise as ten times the tolerance,
// and its gap must be a bound. (Its sweeps used to stop at kinks, and this test
// allowed a quarter more than the optimum.)
func TestIsTheSemidefiniteProgram(t *testing.T) {
	propertytest.CheckSome(t, 30, func(t *rapid.T) {
		x, _, set := enginetest.Blobs(t, rapid.IntRange(12, 30).Draw(t, "n"), 3,
			rapid.IntRange(3, 9).Draw(t, "pairs"), rapid.Uint64().Draw(t, "seed"))
		l := Learner{Params: DefaultParams()}
		l.Params.Loss = rapid.SampledFrom([]Loss{Square, SquaredHinge, Hinge}).Draw(t, "loss")
		l.Params.C, l.Params.Tol, l.Params.MaxIter = rapid.SampledFrom([]float64{0.7, 1, 3}).Draw(t, "C"),
			1e-10, 20000
		if l.Params.Loss == Hinge {
			l.Params.Tol = 1e-6
		}
		ctx, eng := context.Background(), enginetest.New(t, 0)
		s, _, err := l.Params.Similarities(ctx, eng, kernel.Linear(), x)
		if err != nil {
			t.Fatal(err)
		}
		degrees, err := s.Degrees(ctx, eng)
		if err != nil {
			t.Fatal(err)
		}
		p, err := graphkernel.NewProblem(ctx, eng, s, degrees, set, l.Params.Loss, l.Params.C, l.Params.Delta)
		if err != nil {
			t.Fatal(err)
		}
		want, err := optimize.MinimizeSDP(ctx, eng, p.Energy(), p.Terms(), optimize.SDPOptions{})
		if err != nil {
			t.Fatal(err)
		}
		m := fittest.Fit[*Model](t, l, x, set)
		got := m.Objective()
		if l.Params.Loss == Hinge {
			if !m.Certified() || m.about.Gap < 0 || m.about.Gap > 1e-5*got ||
				got-m.about.Gap > want.Objective+1e-9 {
				t.Fatalf("objective %.12g with gap %g (%s): the optimum is %.12g", got, m.about.Gap,
					m.Status().Message, want.Objective)
			}
			if got < want.Objective-want.Gap-1e-9 {
				t.Fatalf("objective %.12g, the semidefinite program has %.12g with gap %g", got,
					want.Objective, want.Gap)
			}
			return
		}
		if !want.Converged || math.Abs(got-want.Objective) > 1e-8*want.Objective {
			t.Fatalf("objective %.12g, the semidefinite program has %.12g with gap %g", got, want.Objective,
				want.Gap)
		}
		if gap := m.about.Gap; !m.Certified() || gap < 0 || got-gap > want.Objective*(1+1e-8) {
			t.Fatalf("objective %.12g with gap %g (%s): the optimum is %.12g", got, gap, m.Status().Message,
				want.Objective)
		}
	})
}

// TestMonotone checks that the objective falls in every sweep of a fixed rank, for all losses.
func TestMonotone(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		x, _, set := enginetest.Blobs(t, rapid.IntRange(20, 60).Draw(t, "n"), 3,
			rapid.IntRange(5, 40).Draw(t, "pairs"), rapid.Uint64().Draw(t, "seed"))
		l := Learner{Params: DefaultParams()}
		l.Params.Loss = rapid.SampledFrom([]Loss{Square, SquaredHinge, Hinge}).Draw(t, "loss")
		l.Params.Plain = rapid.Bool().Draw(t, "plain")
		l.Params.Rank, l.Params.C = rapid.IntRange(1, 6).Draw(t, "rank"),
			rapid.SampledFrom([]float64{0.5, 1, 10}).Draw(t, "C")
		trace := fittest.Fit[*Model](t, l, x, set).Trace()
		for k := 1; k < len(trace); k++ {
			if trace[k] > trace[k-1]*(1+1e-12) {
				t.Fatalf("sweep %d goes from %.15g to %.15g", k, trace[k-1], trace[k])
			}
		}
	})
}

// TestBlockIsMinimal checks that each update is the minimizer over its row: no small move in any
// direction gives a lower value. The losses are a square, half a square, and half a square that
// continues as a line, with any targets, as in rounds of multipliers; steps that are shortened lead
// to the same row. The hinge itself has no such steps. Sometimes a point has many more links than
// there are dimensions, and sometimes other ends of its links coincide.
func TestBlockIsMinimal(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		r, m := rapid.IntRange(1, 5).Draw(t, "r"),
			rapid.SampledFrom([]int{0, 1, 2, 4, 7, 60}).Draw(t, "links")
		loss := rapid.SampledFrom([]Loss{Square, SquaredHinge, Hinge}).Draw(t, "loss")
		k := newBlock(loss, r, max(m, 1))
		k.m = m
		sharp, few := loss == Hinge && rapid.Bool().Draw(t, "sharp"), rapid.Bool().Draw(t, "few ends")
		for j := range m {
			k.t[j], k.w[j] = float64(2*rng.IntN(2)-1), math.Pow(10, 3*rng.Float64()-1)
			k.aim[j], k.limit[j] = 1+rng.Float64(), math.Inf(1)
			if loss == Hinge {
				k.limit[j] = 0.1 + rng.Float64()
			}
			for c := range r {
				k.a[j*r+c] = rng.NormFloat64()
			}
			if few && j > 1 {
				copy(k.row(j), k.row(j%2))
			}
			if sharp {
				k.aim[j] = 1
			}
		}
		if sharp {
			k.sharpen()
		}
		g, v, d := make([]float64, r), make([]float64, r), 0.5+rng.Float64()
		for c := range r {
			g[c], v[c] = rng.NormFloat64(), rng.NormFloat64()
		}
		value := func(v []float64) float64 {
			sum := d*blas.Dot(v, v)/2 - blas.Dot(g, v)
			for j := range m {
				f := k.aim[j] - k.t[j]*blas.Dot(v, k.row(j))
				switch {
				case loss == Square:
					sum += k.w[j] / 2 * f * f
				case sharp:
					sum += k.w[j] * max(0, f)
				case f > k.limit[j]:
					sum += k.w[j] / 2 * (f*f - (f-k.limit[j])*(f-k.limit[j]))
				default:
					sum += k.w[j] / 2 * max(0, f) * max(0, f)
				}
			}
			return sum
		}
		other := slices.Clone(v)
		k.update(v, d, g)
		best := value(v)
		if !sharp {
			k.descend(other, d, g)
		} else {
			copy(other, v)
		}
		if f := value(other); math.Abs(f-best) > 1e-10*(1+math.Abs(best)) {
			t.Fatalf("%s: the value is %.15g after whole steps, %.15g after shortened ones", loss, best, f)
		}
		for range 200 {
			other, size := slices.Clone(v), math.Pow(10, -6*rng.Float64())
			for c := range other {
				other[c] += size * rng.NormFloat64()
			}
			if f := value(other); f < best-1e-12*(1+math.Abs(best)) {
				t.Fatalf("%s: the value is %.15[3]g at %[2]v, and %.15[5]g at the update %[4]v", loss, other,
					f, v, best)
			}
		}
	})
}

// TestNewPoints checks that training points get their own coordinates, bit for bit, and that the
// coordinates of a new point minimize the energy.
func TestNewPoints(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 60, 3, 30, 4)
	ctx, eng := context.Background(), enginetest.New(t, 0)
	for _, g := range []graphkernel.Graph{KNN, Dense, Within} {
		l := Learner{Params: DefaultParams()}
		l.Params.Graph, l.Params.Radius, l.Params.Heat = g, 2.5, g == Within
		l.Params.Extension = FromGraph
		m := fittest.Fit[*Model](t, l, x, set)
		y, err := m.Embed(ctx, eng, x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x.N {
			if !slices.Equal(y.Row(i), m.Coordinates().Row(i)) {
				t.Fatalf("%s: training point %d gets %v: want its coordinates %v", g, i, y.Row(i),
					m.Coordinates().Row(i))
			}
		}
		// The coordinates v of a new point minimize (1 + delta) |v|^2 - 2 sum_j s_j v'v_j /
		// sqrt(d_x d_j).
		point := []float64{2.4, 0.3, 0.1}
		at, err := m.Embed(ctx, eng, &points.Dense{N: 1, D: 3, Data: point})
		if err != nil {
			t.Fatal(err)
		}
		type edge struct {
			squared float64
			j       int
		}
		var edges []edge
		for j := range x.N {
			s := 0.0
			for a, v := range x.Row(j) {
				s += (v - point[a]) * (v - point[a])
			}
			edges = append(edges, edge{s, j})
		}
		slices.SortFunc(edges, func(a, b edge) int {
			if a.squared < b.squared {
				return -1
			}
			return 1
		})
		switch g {
		case KNN:
			edges = edges[:l.Params.Neighbors]
		case Within:
			edges = slices.DeleteFunc(edges, func(e edge) bool { return e.squared > 2.5*2.5 })
		}
		around, weights, err := l.Params.Similarities(ctx, eng, m.Kernel(), x)
		if err != nil {
			t.Fatal(err)
		}
		degrees, err := around.Degrees(ctx, eng)
		if err != nil {
			t.Fatal(err)
		}
		degree := 0.0
		for _, e := range edges {
			degree += weights.Weight(e.squared)
		}
		for c := range m.Dim() {
			want := 0.0
			for _, e := range edges {
				want += weights.Weight(e.squared) / math.Sqrt(degree*degrees[e.j]) *
					m.Coordinates().At(e.j, c)
			}
			want /= 1 + l.Params.Delta
			if got := at.At(0, c); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
				t.Errorf("%s: column %d of a new point is %g, want %g", g, c, got, want)
			}
		}
	}
}

// TestGivenSimilarities checks that a model of given similarities embeds its training points and
// refuses all others by row.
func TestGivenSimilarities(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 40, 3, 10, 6)
	l := Learner{Params: DefaultParams(), Similarities: similarities(x)}
	l.Params.Graph = Given
	m := fittest.Fit[*Model](t, l, x, set)
	ctx, eng := context.Background(), enginetest.New(t, 0)
	y, err := m.Embed(ctx, eng, x.Select([]int{7, 3}))
	if err != nil || !slices.Equal(y.Row(0), m.Coordinates().Row(7)) ||
		!slices.Equal(y.Row(1), m.Coordinates().Row(3)) {
		t.Errorf("coordinates %v and error %v of two training points", y, err)
	}
	strange := x.Select([]int{7, 3, 8}).(*points.Dense)
	strange.Row(2)[0]++
	_, err = m.Embed(ctx, eng, strange)
	if d, ok := errors.AsType[*fault.DataError](err); !ok || d.Row != 2 {
		t.Errorf("a new point: error %v, want one of row 2", err)
	}
}

// TestCollapse checks that links that are too weak leave the kernel at 0, and that the C in the
// message is the smallest that does not.
func TestCollapse(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 40, 3, 2, 5)
	l := Learner{Params: DefaultParams()}
	l.Params.C, l.Params.Delta = 0.01, 2
	m := fittest.Fit[*Model](t, l, x, set)
	if !strings.Contains(m.Status().Message, "too weak") || m.Spectra()[0].Values[0] != 0 {
		t.Fatalf("status %+v, eigenvalues %v: want a collapsed kernel", m.Status(), m.Spectra()[0].Values)
	}
	var c float64
	text := m.Status().Message
	if _, err := fmt.Sscanf(text[strings.Index(text, "C = "):], "C = %g is", &c); err != nil {
		t.Fatal(err)
	}
	for _, factor := range []float64{0.9, 1.1} {
		l.Params.C = factor * c
		m := fittest.Fit[*Model](t, l, x, set)
		if alive := m.Spectra()[0].Values[0] > 0; alive != (factor > 1) {
			t.Errorf("C = %g x %g: eigenvalues %v", factor, c, m.Spectra()[0].Values)
		}
	}
}

func TestModelFile(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 40, 3, 10, 1)
	for _, extension := range []Extension{Ridge, FromGraph} {
		p := DefaultParams()
		p.Extension = extension
		modelFile(t, fittest.Fit[*Model](t, Learner{Params: p}, x, set))
	}
}

func modelFile(t *testing.T, m *Model) {
	t.Helper()
	f := &model.File{}
	if err := m.Encode(f); err != nil {
		t.Fatal(err)
	}
	back, err := Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	other, _, _ := enginetest.Blobs(t, 30, 3, 2, 2)
	a, errA := m.Embed(context.Background(), enginetest.New(t, 0), other)
	b, errB := back.Embed(context.Background(), enginetest.New(t, 0), other)
	if errA != nil || errB != nil || !slices.Equal(a.Data, b.Data) || back.Certified() != m.Certified() {
		t.Errorf("the model that was read differs from the one that was written (%v, %v)", errA, errB)
	}
	cases := map[string]func(f *model.File){
		"method": func(f *model.File) { f.Header.Method = "krca" },
		"params": func(f *model.File) { f.Header.Params = []byte(`{"loss":"sl","C":-1}`) },
		"places": func(f *model.File) { f.SetFloat64s("npkl.places", []float64{1, 2}, 2, 1) },
		"none":   func(f *model.File) { f.SetFloat64s("npkl.places", nil, 40, 0) },
		"trace":  func(f *model.File) { f.SetFloat64s("npkl.trace", nil) },
		"links": func(f *model.File) {
			f.SetInt64s("npkl.links", []int64{0, 40}, 1, 2)
			f.SetFloat64s("npkl.weights", []float64{1})
		},
		"weights": func(f *model.File) { f.SetFloat64s("npkl.weights", []float64{1}) },
		"points":  func(f *model.File) { f.SetFloat64s("points.dense", []float64{1, 2, 3}, 1, 3) },
	}
	switch m.Params().Extension {
	case FromGraph:
		cases["sigma"] = func(f *model.File) { f.Header.Extra[Method] = []byte(`{"sigma":-1,"input_dim":3}`) }
		cases["NaN"] = func(f *model.File) {
			f.SetFloat64s("npkl.degrees", slices.Repeat([]float64{math.NaN()}, 40))
		}
		cases["degrees"] = func(f *model.File) { f.SetFloat64s("npkl.degrees", []float64{1}) }
	case Ridge:
		cases["landmark"] = func(f *model.File) { f.SetInt64s("npkl.ridge.rows", []int64{40}) }
		cases["landmarks"] = func(f *model.File) { f.SetInt64s("npkl.ridge.rows", nil) }
		cases["weights of landmarks"] = func(f *model.File) {
			f.SetFloat64s("npkl.ridge.weights", []float64{1}, 1, 1)
		}
		cases["center"] = func(f *model.File) {
			f.SetFloat64s("npkl.ridge.center", slices.Repeat([]float64{math.Inf(1)}, m.Dim()))
		}
	}
	fittest.Spoiled(t, m, Decode, cases)
}

func TestBadInput(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 30, 3, 5, 1)
	none, err := links.New(30, nil)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(p *Params)) Learner {
		l := Learner{Params: DefaultParams()}
		change(&l.Params)
		return l
	}
	nan := &points.Dense{N: 30, D: 3, Data: slices.Clone(x.Data)}
	nan.Data[1] = math.NaN()
	for name, c := range map[string]struct {
		l   Learner
		x   points.Points
		set *links.Set
	}{
		"no links":  {with(func(*Params) {}), x, none},
		"NaN":       {with(func(*Params) {}), nan, set},
		"rows":      {with(func(*Params) {}), x.Select([]int{0, 1}), set},
		"loss":      {with(func(p *Params) { p.Loss = "l" }), x, set},
		"C":         {with(func(p *Params) { p.C = 0 }), x, set},
		"delta":     {with(func(p *Params) { p.Delta = math.NaN() }), x, set},
		"rank":      {with(func(p *Params) { p.Rank = -1 }), x, set},
		"graph":     {with(func(p *Params) { p.Graph = "" }), x, set},
		"neighbors": {with(func(p *Params) { p.Neighbors = 30 }), x, set},
		"tol":       {with(func(p *Params) { p.Tol = 0 }), x, set},
		"radius":    {with(func(p *Params) { p.Graph = Within }), x, set},
		"plan":      {with(func(p *Params) { p.Plan = "p" }), x, set},
		"max_iter":  {with(func(p *Params) { p.MaxIter = 0 }), x, set},
		"one place": {with(func(p *Params) {
			p.Graph = Dense
		}), &points.Dense{N: 30, D: 3, Data: make([]float64, 90)}, set},
	} {
		if _, err := c.l.Fit(context.Background(), enginetest.New(t, 0), c.x, c.set); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	for name, spoil := range map[string]func(s *blas.Matrix){
		"none":       func(s *blas.Matrix) { *s = blas.Matrix{} },
		"one short":  func(s *blas.Matrix) { *s = s.View(0, 30, 0, 29) },
		"negative":   func(s *blas.Matrix) { s.Set(2, 1, -1); s.Set(1, 2, -1) },
		"NaN":        func(s *blas.Matrix) { s.Set(2, 1, math.NaN()) },
		"infinite":   func(s *blas.Matrix) { s.Set(2, 1, math.Inf(1)) },
		"asymmetric": func(s *blas.Matrix) { s.Set(2, 1, s.At(2, 1)+1e-3) },
	} {
		l := with(func(p *Params) { p.Graph = Given })
		l.Similarities = similarities(x)
		spoil(&l.Similarities)
		if _, err := l.Fit(context.Background(), enginetest.New(t, 0), x, set); !fault.IsInput(err) {
			t.Errorf("similarities, %s: error %v, want one of the input", name, err)
		}
	}
	// Parts of the graph without links are counted.
	apart := &points.Dense{N: 30, D: 3, Data: slices.Clone(x.Data)}
	few, err := links.New(30,
		[]links.Link{links.NewLink(0, 3, links.Must), links.NewLink(0, 1, links.Cannot)})
	if err != nil {
		t.Fatal(err)
	}
	for i := 20; i < 30; i++ {
		apart.Row(i)[0] += 1000
	}
	m := fittest.Fit[*Model](t, with(func(p *Params) { p.Neighbors = 3 }), apart, few)
	if n := m.Status().Notices; len(n) != 1 || !strings.Contains(n[0], "10 points") {
		t.Errorf("notices %q: want one about 10 points", n)
	}
	short := fittest.Fit[*Model](t, with(func(p *Params) { p.MaxIter = 2 }), x, set)
	if s := short.Status(); s.Converged || s.Iterations != 2 || s.Message == "" {
		t.Errorf("status %+v after two sweeps", s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	l := with(func(p *Params) { p.Tol = 1e-15 })
	l.Progress = func(p algorithms.Progress) {
		if p.Done == 3 {
			cancel()
		}
	}
	if _, err := l.Fit(ctx, enginetest.New(t, 0), x, set); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}
