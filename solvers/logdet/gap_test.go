package logdet

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// logDet returns log det of a definite matrix, both triangles.
func logDet(t enginetest.Fataler, m blas.Matrix) float64 {
	t.Helper()
	w, sum := make([]float64, m.Rows), 0.0
	if err := enginetest.New(t, 1).SymEig(context.Background(), m.Clone(), w, false); err != nil {
		t.Fatal(err)
	}
	for _, v := range w {
		sum += math.Log(v)
	}
	return sum
}

// primal returns the objective of a matrix from its definition. Each slack is searched for: the
// nearest one to 1, on a grid from 1 to the constraint.
func primal(t enginetest.Fataler, g, a blas.Matrix, list []Constraint, gamma float64) float64 {
	t.Helper()
	out := -logDet(t, a) - float64(a.Rows)
	for i := range a.Rows {
		out += a.At(i, i)
	}
	distance := func(i, j int) float64 {
		sum := 0.0
		for x := range g.Cols {
			for y := range g.Cols {
				sum += (g.At(i, x) - g.At(j, x)) * a.At(x, y) * (g.At(i, y) - g.At(j, y))
			}
		}
		return sum
	}
	for _, c := range list {
		p := distance(c.I, c.J)
		if c.Kind == Nearer {
			p = distance(c.I, c.K) - p
		}
		x, best := p/c.Bound, math.Inf(1)
		for step := range 101 {
			y := 1 + (x-1)*float64(step)/100 // the bound, in units of c.Bound
			if y > 0 && c.sign()*(x-y) <= 1e-15*x {
				best = min(best, y-math.Log(y)-1)
			}
		}
		out += gamma * c.weight() * best
	}
	return out
}

// dual returns the dual objective of multipliers from its definition.
func dual(t enginetest.Fataler, g blas.Matrix, multipliers []float64, list []Constraint,
	gamma float64) float64 {
	t.Helper()
	r := g.Cols
	s, out := blas.NewMatrix(r, r), 0.0
	for i := range r {
		s.Set(i, i, 1)
	}
	add := func(f float64, i, j int) {
		for x := range r {
			for y := range r {
				s.Set(x, y, s.At(x, y)+f*(g.At(i, x)-g.At(j, x))*(g.At(i, y)-g.At(j, y)))
			}
		}
	}
	for k, c := range list {
		l, weight := c.sign()*multipliers[k], gamma*c.weight()
		if c.Kind == Nearer {
			add(l, c.I, c.K)
			add(-l, c.I, c.J)
		} else {
			add(l, c.I, c.J)
		}
		out += weight * math.Log(1-l*c.Bound/weight)
	}
	return out + logDet(t, s) // NaN outside of its domain
}

// TestGapAgrees checks the dual objective and the gap after any number of sweeps against their
// definitions, in both forms, and also from a start.
func TestGapAgrees(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(4, 8).Draw(rt, "n")
		g, list := drawn(rt, n, n-1)
		gamma := rapid.SampledFrom([]float64{0.01, 1, 10, 1000}).Draw(rt, "gamma")
		o := Options{Gamma: gamma, Tolerance: 1e-13, MaxSweeps: rapid.IntRange(1, 20).Draw(rt, "sweeps")}
		for name, solve := range forms(t, g) {
			first, _, err := solve(list, o)
			if err != nil {
				rt.Fatal(err)
			}
			again := o
			again.Start = first
			second, _, err := solve(list, again)
			if err != nil {
				rt.Fatal(err)
			}
			again.Start = &Result{Multipliers: first.Multipliers}
			third, _, err := solve(list, again)
			if err != nil {
				rt.Fatal(err)
			}
			for _, r := range []*Result{first, second, third} {
				want := dual(rt, g, r.Multipliers, list, gamma)
				if !(math.Abs(r.Dual-want) <= 1e-7*(1+math.Abs(want))) {
					rt.Fatalf("%s: dual objective %.12g, by definition %.12g", name, r.Dual, want)
				}
				if name == "rows" {
					want := primal(rt, g, r.A, list, gamma)
					if got := r.Objective(); !(math.Abs(got-want) <= 1e-7*(1+math.Abs(want))) &&
						!(math.IsInf(got, 1) && math.IsInf(want, 1)) {
						rt.Fatalf("objective %.12g, by definition %.12g", got, want)
					}
				}
				if !(r.Gap >= 0) || !(r.RelativeGap() >= 0) || !(r.RelativeGap() <= 1) {
					rt.Fatalf("%s: gap %g, relative %g", name, r.Gap, r.RelativeGap())
				}
			}
			if second.Dual < first.Dual-1e-9*(1+first.Dual) {
				rt.Fatalf("%s: the dual objective falls from %.12g to %.12g", name, first.Dual, second.Dual)
			}
		}
	})
}

// TestWeakDuality checks that no multipliers have a dual objective above the objective of any
// matrix, and that the two meet at the optimum.
func TestWeakDuality(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		n, r := rapid.IntRange(4, 7).Draw(rt, "n"), rapid.IntRange(1, 3).Draw(rt, "r")
		g, list := drawn(rt, n, r)
		gamma := rapid.SampledFrom([]float64{0.1, 1, 100}).Draw(rt, "gamma")
		eng, ctx := enginetest.New(t, 1), context.Background()
		best, err := Rows(ctx, eng, g, list, Options{Gamma: gamma, Tolerance: 1e-12, MaxSweeps: 100000})
		if err != nil {
			rt.Fatal(err)
		}
		if !best.Converged || !(best.Gap <= 1e-10*(1+best.Dual)) {
			rt.Fatalf("%d sweeps, gap %g, objective %g", best.Sweeps, best.Gap, best.Objective())
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "moves"), 1))
		for range 20 {
			a, b, l := best.A.Clone(), blas.NewMatrix(r, r), make([]float64, len(list))
			for i := range b.Data {
				b.Data[i] = 0.3 * rng.NormFloat64()
			}
			eng.Backend().Gemm(false, true, 1, b, b, 1, a)
			eng.Backend().Kernels().Scale(math.Exp(0.5*rng.NormFloat64()), a.Data)
			for k, m := range best.Multipliers {
				l[k] = m * math.Exp(0.5*rng.NormFloat64())
			}
			rounding := 1e-9 * (1 + best.Dual)
			if p := primal(rt, g, a, list, gamma); p < best.Objective()-rounding {
				rt.Fatalf("objective %.12g, of the optimum %.12g", p, best.Objective())
			}
			if d := dual(rt, g, l, list, gamma); d > best.Dual+rounding {
				rt.Fatalf("dual objective %.12g, of the optimum %.12g", d, best.Dual)
			}
		}
	})
}

// TestConvergedIsNearTheOptimum checks that a result says that it converged only near the minimum,
// also with a large gamma, where thousands of small steps lead to it.
func TestConvergedIsNearTheOptimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 7))
	const n, r, tolerance = 40, 6, 1e-3
	g := blas.NewMatrix(n, r)
	for i := range g.Data {
		g.Data[i] = rng.NormFloat64()
	}
	var list []Constraint
	for range 60 {
		rows := rng.Perm(n)
		list = append(list, Constraint{Kind: Kind(rng.IntN(2)), I: rows[0], J: rows[1],
			Bound: 6 + 6*rng.Float64()})
	}
	eng, ctx := enginetest.New(t, 1), context.Background()
	for _, gamma := range []float64{0.1, 1, 10, 100, 1000} {
		best, err := Rows(ctx, eng, g, list, Options{Gamma: gamma, Tolerance: 1e-9, MaxSweeps: 1000000})
		if err != nil || !best.Converged {
			t.Fatalf("gamma %g: %d sweeps, gap %g, error %v", gamma, best.Sweeps, best.Gap, err)
		}
		for sweeps := 1; sweeps <= 4096; sweeps *= 4 {
			got, err := Rows(ctx, eng, g, list,
				Options{Gamma: gamma, Tolerance: tolerance, MaxSweeps: sweeps})
			if err != nil {
				t.Fatal(err)
			}
			above := got.Objective()/best.Objective() - 1
			t.Logf("gamma %g: %d sweeps, converged %v, change %.2g, gap %.2g, in fact %.2g", gamma,
				got.Sweeps, got.Converged, got.Change, got.RelativeGap(), above)
			if got.Converged != (got.RelativeGap() <= tolerance) || got.Converged && above > 1.001*tolerance {
				t.Errorf("gamma %g, %d sweeps: converged %v, relative gap %g, in fact %g", gamma, got.Sweeps,
					got.Converged, got.RelativeGap(), above)
			}
			if above < -1e-9 || got.Dual > best.Objective()*(1+1e-9) {
				t.Errorf("gamma %g, %d sweeps: objective %g and %g, minimum %g", gamma, got.Sweeps, got.Dual,
					got.Objective(), best.Objective())
			}
		}
	}
}

// TestGapOfNothing checks constraints that the prior satisfies, and a gap that is infinite.
func TestGapOfNothing(t *testing.T) {
	g := blas.MatrixOf(3, 1, []float64{0, 1, 3})
	res, err := Rows(context.Background(), enginetest.New(t, 1), g,
		[]Constraint{{Kind: AtMost, I: 0, J: 1, Bound: 2}}, Options{Gamma: 1})
	if err != nil || !res.Converged || res.Gap != 0 || res.Objective() != 0 || res.RelativeGap() != 0 ||
		res.Sweeps != 1 {
		t.Errorf("error %v, result %+v", err, res)
	}
	if r := (&Result{Dual: 1, Gap: math.Inf(1)}); r.RelativeGap() != 1 {
		t.Errorf("relative gap %g of an infinite one, want 1", r.RelativeGap())
	}
	if !math.IsInf(excess(-1), 1) || !math.IsInf(excess(-2), 1) || excess(0) != 0 {
		t.Errorf("excess %g, %g, %g", excess(-1), excess(-2), excess(0))
	}
}

// TestInfiniteGap checks that a matrix has not converged as long as it violates a constraint that
// no slack satisfies: two points cannot both be the nearer one, so that the dual has no maximum.
func TestInfiniteGap(t *testing.T) {
	g := blas.MatrixOf(3, 2, []float64{0, 0, 1, 0, 0, 1})
	list := []Constraint{{Kind: Nearer, I: 0, J: 1, K: 2, Bound: 1},
		{Kind: Nearer, I: 0, J: 2, K: 1, Bound: 1}}
	for name, solve := range forms(t, g) {
		for _, patience := range []int{-1, 2} {
			r, _, err := solve(list, Options{Gamma: 1, MaxSweeps: 50, patience: patience})
			if err != nil || r.Converged || !math.IsInf(r.Gap, 1) || r.RelativeGap() != 1 {
				t.Errorf("%s: error %v, converged %v, gap %g", name, err, r.Converged, r.Gap)
			}
		}
	}
}
