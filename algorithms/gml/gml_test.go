package gml

import (
	"cmp"
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
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/solvers/logdet"
	"github.com/mustlink/mustlink/solvers/operator"
)

// of returns a learner whose metric is that of the whole kernel.
func of(prior Prior) Learner {
	l := Learner{Params: DefaultParams()}
	l.Params.Dims = 0
	l.Params.Prior, l.Params.Outer = prior, 5 // the default, one round, does not learn M
	return l
}

// TestDims: few directions are the first of all, up to their signs, and links can be added to them.
// Of 600 points, few directions are searched by products.
func TestDims(t *testing.T) {
	const dims = 4
	for prior, n := range map[Prior]int{RBF: 600, DataDep: 80} {
		x, labels, set := enginetest.Rings(t, n, 30, 1)
		l := of(prior)
		l.Params.Outer, l.Params.Tol, l.Params.MaxIter = 1, 1e-9, 100000
		all := fittest.Fit[*Model](t, l, x, set)
		l.Params.Dims = dims
		few := fittest.Fit[*Model](t, l, x, set)
		ctx, eng := t.Context(), enginetest.New(t, 0)
		got, err := few.Embed(ctx, eng, x)
		if err != nil {
			t.Fatal(err)
		}
		want, err := all.Embed(ctx, eng, x)
		if err != nil {
			t.Fatal(err)
		}
		if got.Cols != dims {
			t.Fatalf("%s: %d columns: want %d", prior, got.Cols, dims)
		}
		for i := range n {
			for j := range dims {
				if d := math.Abs(got.At(i, j)) - math.Abs(want.At(i, j)); !(math.Abs(d) <= 1e-7) {
					t.Fatalf("%s: column %d of point %d is %g, of all directions %g", prior, j, i,
						got.At(i, j), want.At(i, j))
				}
			}
		}
		more := enginetest.Drawn(t, labels, 3, 3, 2)
		union, err := links.Union(set, more)
		if err != nil {
			t.Fatal(err)
		}
		added, err := few.AddLinks(ctx, eng, x, more)
		if err != nil {
			t.Fatal(err)
		}
		wantSame(t, string(prior), added.(*Model), fittest.Fit[*Model](t, l, x, union), x, 1e-5)
	}
}

// variants returns learners of all kinds, except for Isomap's basis: no path joins the rings.
func variants() map[string]Learner {
	all := map[string]Learner{"rbf": of(RBF), "spectral": of(Spectral), "datadep": of(DataDep)}
	l := of(Spectral)
	l.Params.Basis = FromLLE
	all["lle"] = l
	l = of(Spectral)
	l.Params.Extension = Nystrom
	all["nystrom"] = l
	l.Params.Laplacian, l.Params.Heat = Normalized, true
	all["normalized nystrom"] = l
	return all
}

// TestMonotone checks, for both priors and all gamma, that the objective falls with every round,
// that the weights of eigenvectors fall, and that the projections of the last round satisfy the
// optimality conditions.
func TestMonotone(t *testing.T) {
	propertytest.CheckSome(t, 20, func(rt *rapid.T) {
		x, _, set := enginetest.Rings(rt, rapid.IntRange(40, 90).Draw(rt, "n"),
			rapid.IntRange(5, 30).Draw(rt, "pairs"), rapid.Uint64().Draw(rt, "seed"))
		l := of(rapid.SampledFrom([]Prior{RBF, Spectral, DataDep}).Draw(rt, "prior"))
		l.Params.Gamma = rapid.SampledFrom([]float64{0.1, 1, 10}).Draw(rt, "gamma")
		l.Params.Laplacian = rapid.SampledFrom([]Laplacian{Unnormalized, Normalized}).Draw(rt, "laplacian")
		l.Params.Outer, l.Params.Tol, l.Params.MaxIter = 6, 1e-8, 100000
		m := fittest.Fit[*Model](t, l, x, set)
		trace := m.Trace()
		for k := 1; k < len(trace); k++ {
			if trace[k] > trace[k-1]+1e-6*math.Abs(trace[k-1]) {
				rt.Fatalf("round %d goes from %.12g to %.12g", k, trace[k-1], trace[k])
			}
		}
		if !m.Status().Converged || m.Residual() > 1e-4 {
			rt.Fatalf("status %+v, residual %g", m.Status(), m.Residual())
		}
		w := m.Weights()
		if l.Params.Prior == DataDep {
			slices.Reverse(w)
		}
		for k := 1; k < len(w); k++ {
			if w[k] > w[k-1] || w[k] < 0 {
				rt.Fatalf("weights %v of prior %s", m.Weights(), l.Params.Prior)
			}
		}
	})
}

// TestConverged checks that a fit with the defaults converges, and that it is then within 1 % of
// the optimum of its prior by the duality gap, evaluated from its definition. Every link has a
// share of the gap that cannot be negative: the price of the smallest slack that satisfies it,
// minus the dual value of its multiplier.
func TestConverged(t *testing.T) {
	propertytest.CheckSome(t, 20, func(rt *rapid.T) {
		n := rapid.IntRange(40, 90).Draw(rt, "n")
		x, _, set := enginetest.Rings(rt, n, rapid.IntRange(5, n/2).Draw(rt, "pairs"),
			rapid.Uint64().Draw(rt, "seed"))
		l := Learner{Params: DefaultParams()}
		f := begin(l.Params, l.Begin(enginetest.New(rt, 0), x, set))
		m, err := f.model(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		if s := m.Status(); !s.Converged || s.Iterations != 1 {
			rt.Fatalf("status %+v", s)
		}
		gap, gamma, k := 0.0, f.Params.Gamma, f.last.A
		for at, c := range f.bounds.Constraints(f.targets, logdetmetric.Positions(f.targets.Linked())) {
			p, sign := k.At(c.I, c.I)+k.At(c.J, c.J)-2*k.At(c.I, c.J), 1.0
			slack := max(p, c.Bound)
			if c.Kind == logdet.AtLeast {
				sign, slack = -1, min(p, c.Bound)
			}
			price := slack/c.Bound - math.Log(slack/c.Bound) - 1
			share := gamma*c.Weight*(price-math.Log(c.Bound/f.last.Bounds[at])) -
				sign*f.last.Multipliers[at]*p
			if share < -1e-9 {
				rt.Fatalf("constraint %d has the share %g of the gap", at, share)
			}
			gap += share
		}
		if gap > 0.01*m.Objective() {
			rt.Fatalf("gap %g of the objective %g", gap, m.Objective())
		}
	})
}

// TestWidth: a round moves the width to where the slope of its objective vanishes, to a millionth.
func TestWidth(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	x, _, set := enginetest.Rings(t, 60, 15, 3)
	l := of(RBF)
	f := begin(l.Params, l.Begin(eng, x, set))
	w := &width{fit: f, linked: f.targets.Linked(), base: kernel.Linear()}
	a, err := w.begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if w.squared, err = w.base.SquaredDistances(ctx, eng, x.Select(w.linked)); err != nil {
		t.Fatal(err)
	}
	if err := w.project(ctx, a); err != nil {
		t.Fatal(err)
	}
	first := a.sigma
	if err := w.improve(ctx, a); err != nil {
		t.Fatal(err)
	}
	at := func(log float64) float64 {
		v, _, err := w.profile(ctx, a.result.A, math.Exp(log))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	const h = 1e-4
	s := math.Log(a.sigma)
	slope, curve := (at(s+h)-at(s-h))/(2*h), (at(s+h)-2*at(s)+at(s-h))/(h*h)
	if off := slope / curve; !(curve > 0) || math.Abs(off) > 2e-6 || a.sigma == first {
		t.Errorf("the width %g, from %g, is off by %g relatively", a.sigma, first, off)
	}
}

// TestObjective compares the last objective of the trace with its definition, for the spectral
// prior: K = Y Y' for the coordinates Y, and M = V diag(alpha) V'. It does so after any number of
// sweeps.
func TestObjective(t *testing.T) {
	for _, sweeps := range []int{1, 3, 10000} {
		compareObjective(t, sweeps)
	}
}

func compareObjective(t *testing.T, sweeps int) {
	t.Helper()
	x, _, set := enginetest.Rings(t, 60, 15, 2)
	l := of(Spectral)
	l.Params.Rank, l.Params.Outer, l.Params.Gamma, l.Params.Tol, l.Params.MaxIter = 6, 3, 2, 1e-9, sweeps
	m := fittest.Fit[*Model](t, l, x, set)
	y := m.Coordinates()
	alpha := m.Weights()
	// In an orthonormal basis of the range, Y = V diag(sqrt(alpha)) L. The part of M is computed
	// from the eigenvectors again.
	task := begin(l.Params, l.Begin(enginetest.New(t, 0), x, nil))
	ctx := context.Background()
	found, err := task.basis(ctx, kernel.Linear())
	if err != nil {
		t.Fatal(err)
	}
	inner := blas.NewMatrix(6, 6) // diag(1/sqrt(alpha)) V' Y: a factor of A
	task.Eng.Backend().Gemm(false, false, 1, found.Vectors, y, 0, inner)
	trace := 0.0
	for i := range 6 {
		for c := range 6 {
			inner.Set(i, c, inner.At(i, c)/math.Sqrt(alpha[i]))
			trace += inner.At(i, c) * inner.At(i, c)
		}
	}
	product := blas.NewMatrix(6, 6)
	task.Eng.Backend().Syrk(false, 1, inner, 0, product)
	w := make([]float64, 6)
	if err := task.Eng.SymEig(ctx, product, w, false); err != nil {
		t.Fatal(err)
	}
	want := trace - 6
	for _, v := range w {
		want -= math.Log(v)
	}
	// A violated constraint moves its bound to the distance: xi / xi0 is the ratio that remains.
	for _, link := range slices.Concat(set.Must(), set.Cannot()) {
		p := points.SquaredDistance(y.Row(link.I), y.Row(link.J))
		b := m.about.Upper
		if link.Sign == links.Cannot {
			b = m.about.Lower
		}
		if q := p / b; float64(link.Sign)*(q-1) > 0 {
			want += 2 * (q - math.Log(q) - 1)
		}
	}
	if math.Abs(m.Objective()-want) > 1e-5*want {
		t.Errorf("%d sweeps: objective %.12g, by definition %.12g", sweeps, m.Objective(), want)
	}
	if gap := *m.about.Gap; !(gap >= 0) || !(gap <= 1) || m.Status().Converged != (gap <= l.Params.Tol) {
		t.Errorf("%d sweeps: duality gap %g, status %+v", sweeps, gap, m.Status())
	}
}

// TestLearns checks that both priors separate the rings, for training points and new points.
func TestLearns(t *testing.T) {
	for name, l := range variants() {
		x, labels, set := enginetest.Rings(t, 200, 60, 3)
		m := fittest.Fit[*Model](t, l, x, set)
		other, classes, _ := enginetest.Rings(t, 100, 5, 4)
		right := nearest(t, m, x, labels, other, classes)
		if right < 95 {
			t.Errorf("%s: %d of 100 new points are nearest to one of their class", name, right)
		}
		ctx, eng := context.Background(), enginetest.New(t, 0)
		train, err := m.Embed(ctx, eng, x)
		if err != nil {
			t.Fatal(err)
		}
		same := x.Select([]int{5, 17}).(*points.Dense)
		if z, err := m.Embed(ctx, eng, same); err != nil || math.Abs(z.At(0, 0)-train.At(5, 0)) > 1e-9 ||
			math.Abs(z.At(1, 0)-train.At(17, 0)) > 1e-9 {
			t.Errorf("%s: training points embedded one by one have other coordinates (%v)", name, err)
		}
	}
}

// nearest returns how many of the other points are nearest to a point of x of their own class.
func nearest(t *testing.T, m *Model, x *points.Dense, labels []string, other *points.Dense,
	classes []string) (right int) {
	t.Helper()
	ctx, eng := context.Background(), enginetest.New(t, 0)
	train, err := m.Embed(ctx, eng, x)
	if err != nil {
		t.Fatal(err)
	}
	y, err := m.Embed(ctx, eng, other)
	if err != nil {
		t.Fatal(err)
	}
	for i := range y.Rows {
		best, at := math.Inf(1), 0
		for j := range train.Rows {
			if d := points.SquaredDistance(y.Row(i), train.Row(j)); d < best {
				best, at = d, j
			}
		}
		if labels[at] == classes[i] {
			right++
		}
	}
	return right
}

func TestModelFile(t *testing.T) {
	x, _, set := enginetest.Rings(t, 60, 20, 5)
	for name, l := range variants() {
		m := fittest.Fit[*Model](t, l, x, set)
		f := &model.File{}
		if err := m.Encode(f); err != nil {
			t.Fatal(err)
		}
		back, err := Decode(f)
		if err != nil {
			t.Fatal(err)
		}
		ctx, eng := context.Background(), enginetest.New(t, 0)
		other, _, _ := enginetest.Rings(t, 20, 2, 6)
		a, errA := m.Embed(ctx, eng, other)
		b, errB := back.Embed(ctx, eng, other)
		if errA != nil || errB != nil || !slices.Equal(a.Data, b.Data) ||
			!slices.Equal(m.Trace(), back.Trace()) || !slices.Equal(m.Weights(), back.Weights()) ||
			*m.about.Gap != *back.about.Gap {
			t.Errorf("%s: the model that was read differs from the one that was written (%v, %v)", name, errA,
				errB)
		}
	}
}

// axes returns the first unit vectors of n elements, with values.
func axes(n int, values ...float64) *operator.Eigenpairs {
	v := blas.NewMatrix(len(values), n)
	for i := range values {
		v.Set(i, i, 1)
	}
	return &operator.Eigenpairs{Vectors: v, Values: values}
}

// TestIsomap checks that Isomap's vectors unroll a spiral whose turns are close: a few links
// separate its halves, for new points too, and the model survives a round trip through its file.
func TestIsomap(t *testing.T) {
	spiral := func(n int, seed uint64) (*points.Dense, []string) {
		rng := rand.New(rand.NewPCG(seed, 4))
		x, labels := &points.Dense{N: n, D: 2, Data: make([]float64, 2*n)}, make([]string, n)
		for i := range n {
			a := 2 + 10*rng.Float64()
			labels[i] = fmt.Sprint(a < 7)
			copy(x.Row(i), []float64{a * math.Cos(a), a * math.Sin(a)})
		}
		return x, labels
	}
	x, labels := spiral(300, 1)
	other, classes := spiral(100, 2)
	set, err := links.SampleByCount(labels, 30, 30, 1)
	if err != nil {
		t.Fatal(err)
	}
	l := of(Spectral)
	l.Params.Basis, l.Params.Neighbors = FromIsomap, 6
	m := fittest.Fit[*Model](t, l, x, set)
	f := &model.File{}
	if err := m.Encode(f); err != nil {
		t.Fatal(err)
	}
	back, err := Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if right := nearest(t, back, x, labels, other, classes); right < 97 {
		t.Errorf("%d of 100 new points are nearest to one of their half", right)
	}
}

// TestGivenBasis checks that a given basis has the same effect as naming it in the parameters.
func TestGivenBasis(t *testing.T) {
	x, _, set := enginetest.Rings(t, 60, 15, 7)
	for _, name := range []Basis{FromLaplacian, FromIsomap} {
		l := of(Spectral)
		l.Params.Rank, l.Params.Basis, l.Params.Neighbors = 6, name, 40
		want := fittest.Fit[*Model](t, l, x, set)
		task := begin(l.Params, l.Begin(enginetest.New(t, 0), x, nil))
		b, err := task.basis(context.Background(), kernel.Linear())
		if err != nil {
			t.Fatal(err)
		}
		l.Params.Basis, l.Basis = FromLLE, &operator.Eigenpairs{Vectors: b.Vectors, Values: b.Values}
		if got := fittest.Fit[*Model](t, l, x, set); !slices.Equal(got.Trace(), want.Trace()) ||
			!slices.Equal(got.Weights(), want.Weights()) {
			t.Errorf("%s: with the basis given %v, %v, without %v, %v", name, got.Trace(), got.Weights(),
				want.Trace(), want.Weights())
		}
	}
}

// TestFreeConstant checks that without the constant eigenvector in the order, weights of others may
// rise above its weight, and that with it they may not.
func TestFreeConstant(t *testing.T) {
	above := false
	for seed := range uint64(5) {
		x, _, set := enginetest.Rings(t, 80, 40, seed)
		l := of(Spectral)
		// far beyond all distances
		l.Params.Rank, l.Params.MaxIter, l.Params.Outer, l.Params.Lower = 8, 2000, 8, "5"
		with := fittest.Fit[*Model](t, l, x, set)
		l.Params.FreeConstant = true
		free := fittest.Fit[*Model](t, l, x, set)
		w := free.Weights()
		if !slices.IsSortedFunc(w[1:], func(a, b float64) int { return cmp.Compare(b, a) }) {
			t.Errorf("weights %v do not fall", w[1:])
		}
		if math.Abs(w[0]-1) > 1e-12 {
			t.Errorf("the weight of the constant vector, which is in no distance, went from 1 to %v", w[0])
		}
		if o := with.Weights(); o[1] > o[0] {
			t.Errorf("weights %v do not fall", o)
		}
		above = above || w[1] > w[0]
	}
	if !above {
		t.Error("no weight rose above that of the constant vector")
	}
}

// TestTriplets checks that triplets alone are enough to learn from: held-out triplets hold more
// often than before.
func TestTriplets(t *testing.T) {
	for name, l := range variants() {
		x, labels, _ := enginetest.Rings(t, 120, 10, 8)
		none, err := links.New(x.N, nil)
		if err != nil {
			t.Fatal(err)
		}
		draw := func(count int, seed uint64) []links.Triplet {
			rng := rand.New(rand.NewPCG(seed, 9))
			var list []links.Triplet
			for len(list) < count {
				t := links.Triplet{I: rng.IntN(x.N), J: rng.IntN(x.N), K: rng.IntN(x.N)}
				if t.I != t.J && labels[t.I] == labels[t.J] && labels[t.I] != labels[t.K] {
					list = append(list, t)
				}
			}
			return list
		}
		ctx, eng := context.Background(), enginetest.New(t, 0)
		held := func(d func(i, j int) float64) int {
			count := 0
			for _, t := range draw(1000, 2) {
				if d(t.I, t.J) < d(t.I, t.K) {
					count++
				}
			}
			return count
		}
		before := held(func(i, j int) float64 { return points.SquaredDistance(x.Row(i), x.Row(j)) })
		l.Triplets = draw(150, 1)
		m := fittest.Fit[*Model](t, l, x, none)
		y, err := m.Embed(ctx, eng, x)
		if err != nil {
			t.Fatal(err)
		}
		after := held(func(i, j int) float64 { return points.SquaredDistance(y.Row(i), y.Row(j)) })
		if after < before+100 || m.about.Margin <= 0 {
			t.Errorf("%s: of 1000 triplets %d hold, %d before (margin %g)", name, after, before,
				m.about.Margin)
		}
	}
}

func TestBadInput(t *testing.T) {
	x, _, set := enginetest.Rings(t, 60, 10, 6)
	ctx, eng := context.Background(), enginetest.New(t, 0)
	none, err := links.New(60, nil)
	if err != nil {
		t.Fatal(err)
	}
	with := func(prior Prior, change func(l *Learner)) algorithms.Learner {
		l := of(prior)
		change(&l)
		return l
	}
	nothing := func(*Learner) {}
	same := &points.Dense{N: 60, D: 2, Data: make([]float64, 120)}
	letters, err := kernel.Parse("spectrum:k=3")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		l   algorithms.Learner
		x   points.Points
		set *links.Set
	}{
		"no links":  {with(RBF, nothing), x, none},
		"prior":     {with("p", nothing), x, set},
		"gamma":     {with(RBF, func(l *Learner) { l.Params.Gamma = 0 }), x, set},
		"rank":      {with(Spectral, func(l *Learner) { l.Params.Rank = 60 }), x, set},
		"rank of 1": {with(Spectral, func(l *Learner) { l.Params.Rank = 1 }), x, set},
		"graph":     {with(Spectral, func(l *Learner) { l.Params.Graph = graphkernel.Dense }), x, set},
		"neighbors": {with(Spectral, func(l *Learner) { l.Params.Neighbors = 60 }), x, set},
		"laplacian": {with(Spectral, func(l *Learner) { l.Params.Laplacian = "l" }), x, set},
		"diffusion": {with(Spectral, func(l *Learner) { l.Params.Diffusion = -1 }), x, set},
		"outer":     {with(RBF, func(l *Learner) { l.Params.Outer = 0 }), x, set},
		"upper":     {with(RBF, func(l *Learner) { l.Params.Upper = "p" }), x, set},
		"tol":       {with(RBF, func(l *Learner) { l.Params.Tol = 0 }), x, set},
		"kernel":    {with(RBF, func(l *Learner) { l.Kernel = letters }), x, set},
		"one place": {with(RBF, nothing), same, set},
		"basis":     {with(Spectral, func(l *Learner) { l.Params.Basis = "b" }), x, set},
		"extension": {with(Spectral, func(l *Learner) { l.Params.Extension = "e" }), x, set},
		"nystrom":   {with(RBF, func(l *Learner) { l.Params.Extension = Nystrom }), x, set},
		"given": {with(Spectral, func(l *Learner) {
			l.Params.Extension, l.Params.Rank, l.Basis = Nystrom, 2, axes(60, 0, 1)
		}), x, set},
		"few given": {with(Spectral, func(l *Learner) {
			l.Params.Rank, l.Basis = 3, axes(60, 0, 1)
		}), x, set},
		"falling": {with(Spectral, func(l *Learner) {
			l.Params.Rank, l.Basis = 2, axes(60, 1, 0)
		}), x, set},
		"not a number": {with(Spectral, func(l *Learner) {
			l.Params.Rank, l.Basis = 2, axes(60, 1, math.NaN())
		}), x, set},
		"oblique": {with(Spectral, func(l *Learner) {
			l.Params.Rank, l.Basis = 2, axes(60, 0, 1)
			l.Basis.Vectors.Set(0, 1, 0.1)
		}), x, set},
		"lle graph": {with(Spectral, func(l *Learner) {
			l.Params.Basis, l.Params.Graph, l.Params.Radius = FromLLE, graphkernel.Within, 1
		}), x, set},
		"triplets": {with(RBF, func(l *Learner) {
			l.Triplets = []links.Triplet{{I: 0, J: 1, K: 60}}
		}), x, none},
		"margin":   {with(RBF, func(l *Learner) { l.Params.Margin = "0" }), x, set},
		"no shape": {with(Spectral, func(l *Learner) { l.Params.Graph = graphkernel.Given }), x, set},
	} {
		if _, err := c.l.Fit(ctx, eng, c.x, c.set); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	// Parts of the graph are counted, and a limit on the sweeps is reported.
	apart := &points.Dense{N: 60, D: 2, Data: slices.Clone(x.Data)}
	for i := range 20 {
		apart.Row(i)[0] += 100
	}
	m, err := with(Spectral, func(l *Learner) {
		l.Params.Neighbors, l.Params.MaxIter, l.Params.Outer, l.Params.Tol = 3, 1, 1, 1e-9
		l.Params.Upper, l.Params.Lower = "0.001", "0.1"
	}).Fit(ctx, eng, apart, set)
	if err != nil {
		t.Fatal(err)
	}
	if s := m.Status(); s.Converged || !strings.Contains(s.Message, "sweeps") || len(s.Notices) != 1 ||
		!strings.Contains(s.Notices[0], "parts") {
		t.Errorf("status %+v", s)
	}
	// Points that coincide do no harm; cannot-links between them are reported by row.
	twins, err := links.New(60,
		[]links.Link{links.NewLink(0, 1, links.Must), links.NewLink(2, 3, links.Cannot),
			links.NewLink(10, 12, links.Must), links.NewLink(10, 13, links.Cannot)})
	if err != nil {
		t.Fatal(err)
	}
	pairs := &points.Dense{N: 60, D: 2, Data: slices.Clone(x.Data)}
	for i := range 2 {
		copy(pairs.Row(2*i+1), pairs.Row(2*i))
	}
	for name, l := range variants() {
		m, err := l.Fit(ctx, eng, pairs, twins)
		if err != nil {
			t.Errorf("%s, twins: %v", name, err)
			continue
		}
		about := m.(*Model).about
		// In the coordinates of a graph's eigenvectors, twins are apart, because ties between their
		// neighbors are broken differently.
		if inSpace := l.Params.Prior != Spectral; inSpace &&
			(about.Skipped < 1 || !strings.Contains(strings.Join(m.Status().Notices, ""), "2 and 3")) {
			t.Errorf("%s, twins: %d left out, notices %q", name, about.Skipped, m.Status().Notices)
		}
		if math.IsNaN(m.(*Model).Objective()) || !(about.Residual < 1e-2) {
			t.Errorf("%s, twins: objective %g, residual %g", name, m.(*Model).Objective(), about.Residual)
		}
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	for name, l := range variants() {
		if _, err := l.Fit(done, eng, x, set); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, canceled: error %v", name, err)
		}
	}
}
