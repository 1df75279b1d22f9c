package gml

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
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/eigen"
)

// rings returns points on two circles, one around the other, with links.
func rings(t enginetest.Fataler, n, pairs int, seed uint64) (*points.Dense, []string, *links.Set) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 4))
	x, labels := &points.Dense{N: n, D: 2, Data: make([]float64, 2*n)}, make([]string, n)
	for i := range n {
		labels[i] = fmt.Sprint(i % 2)
		a, r := 2*math.Pi*rng.Float64(), float64(1+2*(i%2))+0.1*rng.NormFloat64()
		copy(x.Row(i), []float64{r * math.Cos(a), r * math.Sin(a)})
	}
	set, err := links.SampleByCount(labels, pairs, pairs, seed)
	if err != nil {
		t.Fatal(err)
	}
	return x, labels, set
}

func fitted(t testing.TB, l Learner, x points.Points, set *links.Set) *Model {
	t.Helper()
	m, err := l.Fit(context.Background(), enginetest.New(t, 0), x, set)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Model)
}

func of(prior Prior) Learner {
	l := Learner{Params: DefaultParams()}
	l.Params.Prior = prior
	return l
}

// The objective falls with every round, for both priors and all gamma; the weights of eigenvectors fall; the
// projections of the last round have the conditions of the optimum.
func TestMonotone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x, _, set := rings(rt, rapid.IntRange(40, 90).Draw(rt, "n"), rapid.IntRange(5, 30).Draw(rt, "pairs"), rapid.Uint64().Draw(rt, "seed"))
		l := of(rapid.SampledFrom([]Prior{RBF, Spectral, DataDep}).Draw(rt, "prior"))
		l.Params.Gamma = rapid.SampledFrom([]float64{0.1, 1, 10}).Draw(rt, "gamma")
		l.Params.Laplacian = rapid.SampledFrom([]Laplacian{Unnormalized, Normalized}).Draw(rt, "laplacian")
		l.Params.Outer, l.Params.Tol, l.Params.MaxIter = 6, 1e-8, 100000
		m := fitted(t, l, x, set)
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

// The objective that the trace ends with is that of its definition, for the spectral prior: K = Y Y' for the
// places Y, M = V diag(alpha) V'.
func TestObjective(t *testing.T) {
	x, _, set := rings(t, 60, 15, 2)
	l := of(Spectral)
	l.Params.Rank, l.Params.Outer, l.Params.Gamma, l.Params.Tol, l.Params.MaxIter = 6, 3, 2, 1e-9, 10000
	m := fitted(t, l, x, set)
	y := m.metric.(interface{ Places() blas.Matrix }).Places()
	alpha := m.Weights()
	// In an orthonormal basis of the range, Y = V diag(sqrt(alpha)) L: M's part is found from the eigenvectors again.
	task := &fit{Learner: l, eng: enginetest.New(t, 0), x: x, set: set}
	ctx := context.Background()
	a, err := task.graph(ctx, kernel.Linear())
	if err != nil {
		t.Fatal(err)
	}
	found, err := eigen.Laplacian(ctx, task.eng, a, false, 6, eigen.Options{Tolerance: 1e-8})
	if err != nil {
		t.Fatal(err)
	}
	basis := found.Vectors
	inner := blas.NewMatrix(6, 6) // diag(1/sqrt(alpha)) V' Y: a factor of A
	task.eng.Backend().Gemm(false, false, 1, basis, y, 0, inner)
	trace := 0.0
	for i := range 6 {
		for c := range 6 {
			inner.Set(i, c, inner.At(i, c)/math.Sqrt(alpha[i]))
			trace += inner.At(i, c) * inner.At(i, c)
		}
	}
	product := blas.NewMatrix(6, 6)
	task.eng.Backend().Syrk(false, 1, inner, 0, product)
	w := make([]float64, 6)
	if err := task.eng.SymEig(ctx, product, w, false); err != nil {
		t.Fatal(err)
	}
	want := trace - 6
	for _, v := range w {
		want -= math.Log(v)
	}
	// A constraint that is not met pulls its bound to the distance: xi / xi0 is what is left.
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
		t.Errorf("objective %.12g, by definition %.12g", m.Objective(), want)
	}
}

// With both priors the learned distances tell the rings apart, of training and of new points.
func TestLearns(t *testing.T) {
	for _, prior := range []Prior{RBF, Spectral, DataDep} {
		x, labels, set := rings(t, 200, 60, 3)
		m := fitted(t, of(prior), x, set)
		other, classes, _ := rings(t, 100, 5, 4)
		ctx, eng := context.Background(), enginetest.New(t, 0)
		train, err := m.Embed(ctx, eng, x)
		if err != nil {
			t.Fatal(err)
		}
		y, err := m.Embed(ctx, eng, other)
		if err != nil {
			t.Fatal(err)
		}
		right := 0
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
		if right < 95 {
			t.Errorf("%s: %d of 100 new points are nearest to one of their class", prior, right)
		}
		same := x.Select([]int{5, 17}).(*points.Dense)
		if z, err := m.Embed(ctx, eng, same); err != nil || math.Abs(z.At(0, 0)-train.At(5, 0)) > 1e-9 || math.Abs(z.At(1, 0)-train.At(17, 0)) > 1e-9 {
			t.Errorf("%s: training points have other places alone (%v)", prior, err)
		}
	}
}

func TestModelFile(t *testing.T) {
	x, _, set := rings(t, 60, 20, 5)
	for _, prior := range []Prior{RBF, Spectral, DataDep} {
		m := fitted(t, of(prior), x, set)
		f := &model.File{}
		if err := m.Encode(f); err != nil {
			t.Fatal(err)
		}
		back, err := Decode(f)
		if err != nil {
			t.Fatal(err)
		}
		ctx, eng := context.Background(), enginetest.New(t, 0)
		other, _, _ := rings(t, 20, 2, 6)
		a, errA := m.Embed(ctx, eng, other)
		b, errB := back.Embed(ctx, eng, other)
		if errA != nil || errB != nil || !slices.Equal(a.Data, b.Data) || !slices.Equal(m.Trace(), back.Trace()) || !slices.Equal(m.Weights(), back.Weights()) {
			t.Errorf("%s: the model that was read is another one (%v, %v)", prior, errA, errB)
		}
	}
}

func TestBadInput(t *testing.T) {
	x, _, set := rings(t, 60, 10, 6)
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
		"no shape":  {with(Spectral, func(l *Learner) { l.Params.Graph = graphkernel.Given }), x, set},
	} {
		if _, err := c.l.Fit(ctx, eng, c.x, c.set); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	// Parts of the graph are counted, and a bound on the sweeps is said.
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
	if s := m.Status(); s.Converged || !strings.Contains(s.Message, "sweeps") || len(s.Notices) != 1 || !strings.Contains(s.Notices[0], "parts") {
		t.Errorf("status %+v", s)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	for _, prior := range []Prior{RBF, Spectral, DataDep} {
		if _, err := of(prior).Fit(done, eng, x, set); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: error %v", prior, err)
		}
	}
}
