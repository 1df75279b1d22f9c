package npkl

import (
	"context"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// TestLargeC checks that links of large weights reach a certified optimum: that of the semidefinite
// program at C = 1000, and one that only grows with C, toward the least energy of kernels that
// satisfy every link.
func TestLargeC(t *testing.T) {
	propertytest.CheckSome(t, 12, func(t *rapid.T) {
		x, _, set := enginetest.Blobs(t, rapid.IntRange(12, 30).Draw(t, "n"), 3,
			rapid.IntRange(3, 9).Draw(t, "pairs"), rapid.Uint64().Draw(t, "seed"))
		l := Learner{Params: DefaultParams()}
		l.Params.Loss, l.Params.MaxIter = rapid.SampledFrom([]Loss{Square, SquaredHinge, Hinge}).Draw(t,
			"loss"), 20000
		before := 0.0
		for _, c := range []float64{1e3, 1e4, 1e5, 1e6} {
			l.Params.C = c
			m := fittest.Fit[*Model](t, l, x, set)
			f, gap := m.Objective(), m.about.Gap
			if !m.Certified() || gap < 0 || gap > 1e-4*f {
				t.Fatalf("%s, C = %g: objective %g with gap %g, %q", l.Params.Loss, c, f, gap,
					m.Status().Message)
			}
			if f < before*(1-1e-4) {
				t.Fatalf("%s: the optimum falls from %.9g to %.9g at C = %g", l.Params.Loss, before, f, c)
			}
			if before = f; c > 1e3 {
				continue
			}
			want := program(t, l.Params, x, set)
			if f-gap > want.Objective*(1+1e-9) || f < want.Objective-want.Gap-1e-9 {
				t.Fatalf("%s: objective %.9g with gap %g, the semidefinite program has %.9g with gap %g",
					l.Params.Loss, f, gap, want.Objective, want.Gap)
			}
		}
	})
}

// program solves the problem of a fit as a semidefinite program.
func program(t *rapid.T, p Params, x *points.Dense, set *links.Set) *optimize.SDPResult {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	s, _, err := p.Similarities(ctx, eng, kernel.Linear(), x)
	if err != nil {
		t.Fatal(err)
	}
	degrees, err := s.Degrees(ctx, eng)
	if err != nil {
		t.Fatal(err)
	}
	problem, err := graphkernel.NewProblem(ctx, eng, s, degrees, set, p.Loss, p.C, p.Delta)
	if err != nil {
		t.Fatal(err)
	}
	found, err := optimize.MinimizeSDP(ctx, eng, problem.Energy(), problem.Terms(), optimize.SDPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestHub checks that the memory of a point with many links grows like their number, not like its
// square: fits of all losses
// are certified, and a limit below the price is an error before the sweeps.
func TestHub(t *testing.T) {
	x, labels := clouds(2100, 3, 3)
	var list []links.Link
	for i := 1; i <= 2000; i++ {
		kind := links.Must
		if labels[i] != labels[0] {
			kind = links.Cannot
		}
		list = append(list, links.NewLink(0, i, kind))
	}
	set, err := links.New(2100, list)
	if err != nil {
		t.Fatal(err)
	}
	k, price := newBlock(Hinge, 12, 2000), blockBytes(12, 2000)
	if got := 8 * (cap(k.a) + 4*cap(k.t) + 5*cap(k.rhs) + cap(k.small)); price < int64(got) ||
		price > 8*2000*20 {
		t.Errorf("a block of 2000 links in 12 dimensions has %d bytes and the price %d", got, price)
	}
	l := Learner{Params: DefaultParams()}
	l.Params.Extension = FromGraph
	for _, loss := range []Loss{Square, SquaredHinge, Hinge} {
		l.Params.Loss = loss
		if m := fittest.Fit[*Model](t, l, x, set); !m.Certified() {
			t.Errorf("%s: %+v", loss, m.Status())
		}
	}
	p, start := problemOn(t, context.Background(), enginetest.New(t, 0), KNN, x, set)
	small, err := engine.New(engine.Options{MemoryLimit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	f := &fit{Fit: l.Begin(small, x, set), Params: l.Params}
	f.classes = start
	err = f.minimize(context.Background(), p)
	if _, is := errors.AsType[*fault.MemoryError](err); !is {
		t.Errorf("error %v, want one of memory", err)
	}
}

// TestDual checks weak duality: multipliers of unfinished fits bound the optimum from below, after
// the scaling that makes them feasible.
func TestDual(t *testing.T) {
	propertytest.CheckSome(t, 30, func(t *rapid.T) {
		x, _, set := enginetest.Blobs(t, rapid.IntRange(12, 30).Draw(t, "n"), 3,
			rapid.IntRange(3, 9).Draw(t, "pairs"), rapid.Uint64().Draw(t, "seed"))
		ctx, eng := context.Background(), enginetest.New(t, 0)
		l := Learner{Params: DefaultParams()}
		l.Params.Loss = rapid.SampledFrom([]Loss{Square, SquaredHinge, Hinge}).Draw(t, "loss")
		l.Params.MaxIter = rapid.IntRange(1, 30).Draw(t, "max_iter") // far from any optimum
		f := &fit{Fit: l.Begin(eng, x, set), Params: l.Params}
		g, err := f.prepare(ctx)
		if err != nil {
			t.Fatal(err)
		}
		f.classes = g.classes
		if err := f.approach(ctx, g.Problem); err != nil {
			t.Fatal(err)
		}
		f.d.Problem = g.Soften(make(graphkernel.Multipliers, len(g.To)), 1, firm)
		b := f.d.multipliers()
		s := &ascent{fit: f, p: g.Problem, target: 1e-4, best: f.d.v, tol: 1e-3}
		f.trace = []float64{math.MaxFloat64}
		if err := s.close(ctx, b); err != nil {
			t.Fatal(err)
		}
		l.Params.MaxIter = 20000
		if best := fittest.Fit[*Model](t, l, x, set).Objective(); s.bound > best*(1+1e-6) {
			t.Fatalf("%s: the bound is %.12g, the optimum %.12g", l.Params.Loss, s.bound, best)
		}
	})
}

// diagonal is a diagonal matrix.
type diagonal []float64

func (d diagonal) Order() int    { return len(d) }
func (d diagonal) Width() int    { return 1 }
func (d diagonal) Cost() float64 { return 1 }

func (d diagonal) Multiply(ctx context.Context, _ *engine.Engine, y, x blas.Matrix) error {
	for i, v := range d {
		for j := range x.Cols {
			y.Set(i, j, v*x.At(i, j))
		}
	}
	return ctx.Err()
}

// TestSmallestByFactor: the smallest eigenvalue outside the subspace that was moved out of the way,
// from a factor, and the error of a context that ends.
func TestSmallestByFactor(t *testing.T) {
	const n, shift = 30, 1e-9
	eng, g, null := enginetest.New(t, 1), make(diagonal, n), blas.NewMatrix(1, n)
	f := factor{blas.NewMatrix(n, n), n}
	null.Set(0, 0, 1)
	for i := range g {
		g[i] = float64(i) - 0.5 // the subspace has the smallest
		f.l.Set(i, i, math.Sqrt(g[i]+shift))
	}
	f.l.Set(0, 0, math.Sqrt(g[0]+2*n+shift))
	low, err := f.smallest(t.Context(), eng, g, null, 1e-9, 1)
	if err != nil || math.Abs(low.value-0.5) > 1e-9 || low.error > 1e-6 || low.norm != n ||
		math.Abs(math.Abs(low.vector[1])-1) > 1e-9 {
		t.Errorf("eigenvalue %v up to %v, vector %v: want 0.5 (%v)", low.value, low.error, low.vector, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.smallest(ctx, eng, g, null, 1e-9, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}
