package logdet

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// sparse returns n points in r dimensions, and bounds on random distances.
func sparse(rng *rand.Rand, n, r, count int) (blas.Matrix, []Constraint) {
	g := blas.NewMatrix(n, r)
	for i := range g.Data {
		g.Data[i] = rng.NormFloat64()
	}
	var list []Constraint
	for range count {
		rows := rng.Perm(n)
		list = append(list, Constraint{Kind: Kind(rng.IntN(2)), I: rows[0], J: rows[1],
			Bound: float64(r) * (0.5 + rng.Float64()), Weight: 0.5 + rng.Float64()})
	}
	return g, list
}

// TestSolversAgree checks that the ascent, from the first sweep on, and the projections alone find
// the same matrix and multipliers, in both forms.
func TestSolversAgree(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(4, 12).Draw(rt, "n")
		g, list := drawn(rt, n, rapid.IntRange(2, n-1).Draw(rt, "r"))
		o := Options{Gamma: rapid.SampledFrom([]float64{0.01, 0.1, 1, 10, 100}).Draw(rt, "gamma"),
			Tolerance: 1e-12, MaxSweeps: 200000}
		for name, solve := range forms(t, g) {
			o.patience = 1
			ascent, residual, err := solve(list, o)
			if err != nil {
				rt.Fatal(err)
			}
			if !(residual <= 1e-8) || !ascent.Converged {
				rt.Fatalf("%s: %d sweeps, converged %v, residual %g", name, ascent.Sweeps, ascent.Converged,
					residual)
			}
			o.patience = -1
			sweeps, _, err := solve(list, o)
			if err != nil {
				rt.Fatal(err)
			}
			if !sweeps.Converged {
				rt.Skip("projections are slow to converge")
			}
			for i, v := range sweeps.A.Data {
				if !(math.Abs(ascent.A.Data[i]-v) <= 1e-8*largest(sweeps.A)) {
					rt.Fatalf("%s: element %d is %.15g, by projections %.15g", name, i, ascent.A.Data[i], v)
				}
			}
			if d := ascent.Objective() - sweeps.Objective(); !(math.Abs(d) <= 1e-8*(1+sweeps.Objective())) {
				rt.Fatalf("%s: objective %.12g, by projections %.12g", name, ascent.Objective(),
					sweeps.Objective())
			}
		}
	})
}

// TestAscentForAnyGamma checks the gap and the optimality conditions for gammas for which
// projections take thousands of sweeps, with more dimensions than constraints and with fewer.
func TestAscentForAnyGamma(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, size := range []struct{ n, r, count int }{{40, 39, 30}, {40, 8, 60}, {30, 29, 60}} {
		g, list := sparse(rng, size.n, size.r, size.count)
		for _, gamma := range []float64{1e-2, 1, 100, 1e4, 1e6} {
			if size.r < size.count/2 && gamma > 1e4 {
				continue // no metric is near all bounds, and the multipliers cancel to 6 digits
			}
			for name, solve := range forms(t, g) {
				r, residual, err := solve(list,
					Options{Gamma: gamma, Tolerance: 1e-6, MaxSweeps: 300, patience: 3})
				if err != nil {
					t.Fatal(err)
				}
				if !r.Converged || !(r.RelativeGap() <= 1e-6) || !(residual <= 1e-5) {
					t.Errorf("%s, %+v, gamma %g: %d sweeps, converged %v, gap %g, residual %g", name, size,
						gamma, r.Sweeps, r.Converged, r.RelativeGap(), residual)
				}
				if want := dual(t, g, r.Multipliers, list, gamma); name == "rows" &&
					!(math.Abs(r.Dual-want) <= 1e-6*(1+want)) {
					t.Errorf("%s, %+v, gamma %g: dual objective %.12g, by definition %.12g", name, size,
						gamma, r.Dual, want)
				}
			}
		}
	}
}

// TestAscentWithoutOrder checks constraints that occur twice, contradict each other, or are between
// equal points, and points in fewer dimensions than there are.
func TestAscentWithoutOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	g, list := sparse(rng, 20, 3, 20)
	copy(g.Row(1), g.Row(0))
	var odd []Constraint
	for _, c := range list {
		opposite := Constraint{Kind: AtLeast, I: c.I, J: c.J, Bound: 2 * c.Bound}
		odd = append(odd, c, c, opposite)
	}
	odd = append(odd, Constraint{Kind: AtMost, I: 0, J: 1, Bound: 1},
		Constraint{Kind: AtLeast, I: 1, J: 0, Bound: 1})
	for _, gamma := range []float64{0.01, 1, 100} {
		for name, solve := range forms(t, g) {
			r, residual, err := solve(odd,
				Options{Gamma: gamma, Tolerance: 1e-6, MaxSweeps: 400, patience: 2})
			if err != nil {
				t.Fatal(err)
			}
			if !r.Converged || !(residual <= 1e-5) || !slices.Contains(r.Skipped, len(odd)-1) ||
				!slices.Contains(r.Skipped, len(odd)-2) {
				t.Errorf("%s, gamma %g: %d sweeps, converged %v, gap %g, residual %g, skipped %v", name,
					gamma, r.Sweeps, r.Converged, r.RelativeGap(), residual, r.Skipped)
			}
		}
	}
}

// ascending returns the ascent for points, after a sweep.
func ascending(t enginetest.Fataler, g blas.Matrix, list []Constraint, gamma float64) *ascent {
	t.Helper()
	eng := enginetest.New(t, 1)
	s, err := newState(g.Rows, list, Options{Gamma: gamma, Tolerance: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	if s.learned, err = newRows(eng, g, s); err != nil {
		t.Fatal(err)
	}
	for k := range list {
		s.project(k)
	}
	a, err := newAscent(context.Background(), eng, s, true)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestDerivatives checks the gradient and the Hessian against differences of the dual objective,
// which is computed from its definition.
func TestDerivatives(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(4, 8).Draw(rt, "n")
		g, list := drawn(rt, n, rapid.IntRange(2, n).Draw(rt, "r"))
		gamma := rapid.SampledFrom([]float64{0.1, 1, 10}).Draw(rt, "gamma")
		a := ascending(rt, g, list, gamma)
		list = a.constraints // in their order
		unsigned := make([]float64, len(list))
		for k, c := range list {
			unsigned[k] = c.sign() * a.l[k]
		}
		value := a.value(a.l)
		if want := dual(rt, g, unsigned, list, gamma); !(math.Abs(value-want) <= 1e-8*(1+math.Abs(want))) {
			rt.Fatalf("objective %.12g, by definition %.12g", value, want)
		}
		a.images()
		for k := range list {
			a.free = append(a.free, k)
		}
		gradient, h := make([]float64, len(list)), a.hessian()
		for k := range list {
			gradient[k] = a.gradient(k)
		}
		at := slices.Clone(a.l)
		for k, c := range list {
			step := 1e-5 / (c.Bound + math.Abs(a.p[k]) + math.Sqrt(h.At(k, k)))
			var values [2]float64
			var slopes [2][]float64
			for side, sign := range []float64{1, -1} {
				a.l = slices.Clone(at)
				a.l[k] += sign * step
				values[side] = a.value(a.l)
				a.images()
				for j := range list {
					slopes[side] = append(slopes[side], a.gradient(j))
				}
			}
			if math.IsInf(values[0]+values[1], 0) {
				continue // on the edge of the domain
			}
			scale := c.Bound + math.Sqrt(h.At(k, k))
			if d := (values[0] - values[1]) /
				(2 * step); !(math.Abs(d-gradient[k]) <= 1e-4*(scale+math.Abs(gradient[k]))) {
				rt.Fatalf("derivative %d is %g, by differences %g", k, gradient[k], d)
			}
			for j := range list {
				want := -h.At(max(j, k), min(j, k))
				if j == k {
					bound := c.Bound * a.ratio(k, at[k])
					want -= bound * bound * a.slack(k)
				}
				d := (slopes[0][j] - slopes[1][j]) / (2 * step)
				if !(math.Abs(d-want) <= 1e-4*(math.Abs(want)+scale*(list[j].Bound+math.Sqrt(h.At(j, j))))) {
					rt.Fatalf("second derivative %d, %d is %g, by differences %g", j, k, want, d)
				}
			}
		}
	})
}

// TestNonnegative checks the minimum over x >= 0 against all sets of variables that may be
// positive.
func TestNonnegative(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(rt, "n")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		eng := enginetest.New(t, 1)
		b := eng.Backend()
		h, q, start := blas.NewMatrix(n, n), make([]float64, n), make([]float64, n)
		b.Syrk(false, 1, enginetest.Matrix(rng, n, rapid.IntRange(1, n).Draw(rt, "rank"), 0), 0, h)
		for i := range n {
			h.Set(i, i, h.At(i, i)+0.01)
			q[i], start[i] = rng.NormFloat64(), float64(rng.IntN(2))
		}
		x, ok := nonnegative(eng, h, q, start)
		if !ok {
			rt.Fatal("no solution")
		}
		objective := func(x []float64) float64 {
			y := make([]float64, n)
			b.Symv(0.5, h, x, 0, y)
			b.Kernels().Axpy(-1, q, y)
			return b.Kernels().Dot(x, y)
		}
		best := 0.0
		for mask := range 1 << n {
			in, y := make([]bool, n), make([]float64, n)
			for i := range in {
				in[i] = mask>>i&1 == 1
			}
			if restricted(eng, h, q, in, y) && slices.Min(y) >= 0 {
				best = min(best, objective(y))
			}
		}
		if got := objective(x); slices.Min(x) < 0 || !(math.Abs(got-best) <= 1e-9*(1+math.Abs(best))) {
			rt.Fatalf("objective %.12g at %g, the least is %.12g", got, x, best)
		}
	})
}

// TestNonnegativeLarge checks the conditions of the minimum where exchanges of all wrong variables
// at once may not end.
func TestNonnegativeLarge(t *testing.T) {
	rng, eng := rand.New(rand.NewPCG(6, 6)), enginetest.New(t, 2)
	b := eng.Backend()
	for _, rank := range []int{3, 30, 120} {
		const n = 150
		h, q := blas.NewMatrix(n, n), make([]float64, n)
		b.Syrk(false, 1, enginetest.Matrix(rng, n, rank, 0), 0, h)
		for i := range n {
			h.Set(i, i, h.At(i, i)+1e-3)
			q[i] = rng.NormFloat64()
		}
		x, ok := nonnegative(eng, h, q, make([]float64, n))
		if !ok {
			t.Fatalf("rank %d: no solution", rank)
		}
		rest := slices.Clone(q)
		b.Symv(-1, h, x, 1, rest)
		for i, v := range x {
			if !(v >= 0) || !(rest[i] <= 1e-9) || !(math.Abs(v*rest[i]) <= 1e-7) {
				t.Fatalf("rank %d: variable %d is %g, derivative %g", rank, i, v, -rest[i])
			}
		}
	}
	h := blas.NewMatrix(1, 1)
	if _, ok := nonnegative(eng, h, []float64{1}, []float64{0}); ok {
		t.Error("a singular problem has a solution: want none")
	}
}

// large is a problem that takes the ascent, in both forms.
func large() (blas.Matrix, []Constraint) {
	return sparse(rand.New(rand.NewPCG(7, 7)), 90, 89, 120)
}

// TestAscentBits checks that results have the same bits for any number of workers.
func TestAscentBits(t *testing.T) {
	g, list := large()
	var first [2][]float64
	for _, workers := range []int{1, 2, 3} {
		eng, ctx := enginetest.New(t, workers), context.Background()
		o := Options{Gamma: 1000, Tolerance: 1e-4, patience: 4}
		a, err := Rows(ctx, eng, g, list, o)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Kernel(ctx, eng, grams(t, g), list, o)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range []*Result{a, b} {
			if !r.Converged || r.Sweeps > 60 {
				t.Errorf("%d sweeps, converged %v", r.Sweeps, r.Converged)
			}
			if first[i] == nil {
				first[i] = r.A.Data
			} else if !slices.Equal(first[i], r.A.Data) {
				t.Errorf("%d workers: other bits than with one", workers)
			}
		}
	}
}

// TestAscentCanceled checks that a cancel ends the ascent at any of its steps.
func TestAscentCanceled(t *testing.T) {
	g, list := large()
	eng := enginetest.New(t, 1)
	for at := 1; ; at++ {
		ctx := enginetest.StopAt(at)
		_, err := Rows(ctx, eng, g, list, Options{Gamma: 1000, Tolerance: 1e-4, patience: 4})
		if err == nil {
			if at < 8 {
				t.Errorf("%d looks at the context: want some for each step", at)
			}
			return
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("canceled: error %v", err)
		}
	}
}

// TestTakeCanceled checks that a cancel ends the ascent while it takes its multipliers, too.
func TestTakeCanceled(t *testing.T) {
	g, list := sparse(rand.New(rand.NewPCG(8, 8)), 60, 20, 1100)
	for k := 30; k < len(list); k++ { // these hold anyway
		list[k].Kind, list[k].Bound = AtMost, 1e6
	}
	ascend := func(ctx *enginetest.Stopping) error {
		eng := enginetest.New(t, 1)
		s, err := newState(g.Rows, list, Options{Gamma: 10, Tolerance: 1e-4})
		if err != nil {
			t.Fatal(err)
		}
		if s.learned, err = newRows(eng, g, s); err != nil {
			t.Fatal(err)
		}
		_, err = s.ascend(ctx, eng)
		return err
	}
	whole := enginetest.StopAt(0)
	if err := ascend(whole); err != nil {
		t.Fatal(err)
	}
	for last := range 2 { // one for each sign
		if err := ascend(enginetest.StopAt(whole.Looks() - last)); !errors.Is(err, context.Canceled) {
			t.Errorf("look %d of %d: error %v", whole.Looks()-last, whole.Looks(), err)
		}
	}
}

// TestAscentPrice checks that the memory of the ascent is priced, and that projections remain where
// it is too much or where bounds do not give way.
func TestAscentPrice(t *testing.T) {
	g, list := large()
	eng := enginetest.With(t, engine.Options{MemoryLimit: size(len(list), g.Cols) / 2})
	_, err := Rows(context.Background(), eng, g, list, Options{Gamma: 1000, Tolerance: 1e-4, patience: 4})
	if _, is := errors.AsType[*fault.MemoryError](err); !is {
		t.Errorf("error %v, want one of memory", err)
	}
	s := &state{Result: &Result{}, inverse: []float64{1e-3}, o: Options{MaxSweeps: 1000}}
	for name, c := range map[string]struct {
		vectors, order int
		sweep          float64
		want           int
	}{
		"small":     {100, 20, 100 * 1600, 100},
		"kernel":    {2000, 1700, 2 * 1700 * 1700 * 2000, 5},
		"too large": {20000, 20, 20000 * 1600, 0},
		"too long":  {6800, 117, 2 * 117 * 117 * 6800, 0},
	} {
		if got := s.patience(c.vectors, c.order, c.sweep); got != c.want {
			t.Errorf("%s: %d sweeps before the ascent, want %d", name, got, c.want)
		}
	}
	if s.inverse[0] = 0; s.patience(100, 20, 160000) != 0 {
		t.Error("the ascent takes bounds without slack: want projections")
	}
}

// TestDescentAgrees checks that the descent finds the optimum, by its gap and the optimality
// conditions, and the matrix of the ascent, with fewer constraints than dimensions and with many.
func TestDescentAgrees(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 0)
	rng := rand.New(rand.NewPCG(8, 4))
	for _, size := range []struct{ n, r, count int }{{40, 30, 10}, {40, 8, 200}, {60, 3, 900},
		{100, 60, 90}} {
		g, list := sparse(rng, size.n, size.r, size.count)
		for _, gamma := range []float64{0.1, 1, 100} {
			o := Options{Gamma: gamma, Tolerance: 1e-8, MaxSweeps: 100, many: true}
			found, err := Rows(ctx, eng, g, list, o)
			if err != nil {
				t.Fatal(err)
			}
			if check := found.CheckRows(eng, g, list, gamma); !found.Converged || found.Sweeps == 100 ||
				!(check.Largest() <= 1e-3) {
				t.Errorf("%+v, gamma %g: converged %v after %d steps, gap %.2g, %+v", size, gamma,
					found.Converged, found.Sweeps, found.RelativeGap(), check)
			}
			o.many, o.patience, o.MaxSweeps = false, 1, 1000
			other, err := Rows(ctx, eng, g, list, o)
			if err != nil {
				t.Fatal(err)
			}
			if d := math.Abs(found.Objective() - other.Objective()); other.Converged &&
				!(d <= 1e-7*(1+other.Objective())) {
				t.Errorf("%+v, gamma %g: objective %.12g, by the ascent %.12g", size, gamma,
					found.Objective(), other.Objective())
			}
			for i, v := range other.A.Data {
				if other.Converged && !(math.Abs(found.A.Data[i]-v) <= 1e-3*largest(other.A)) {
					t.Fatalf("%+v, gamma %g: element %d is %.12g, by the ascent %.12g", size, gamma, i,
						found.A.Data[i], v)
				}
			}
		}
	}
}

// TestDescentBits checks that the number of workers does not change a bit, and that a canceled
// descent ends with the error of the context.
func TestDescentBits(t *testing.T) {
	g, list := sparse(rand.New(rand.NewPCG(2, 2)), 50, 12, 700)
	o := Options{Gamma: 10, Tolerance: 1e-6, many: true}
	one := enginetest.New(t, 1)
	var before []float64
	for _, workers := range []int{1, 2, 5} {
		eng := enginetest.With(t, engine.Options{Workers: workers, Backend: one.Backend()})
		found, err := Rows(context.Background(), eng, g, list, o)
		if err != nil || !found.Converged {
			t.Fatalf("%v, converged %v", err, found.Converged)
		}
		if before != nil && !slices.Equal(before, found.A.Data) {
			t.Errorf("%d workers give other bits", workers)
		}
		before = found.A.Data
		ctx, cancel := context.WithCancel(context.Background())
		o := o
		o.Progress = func(int, float64) { cancel() }
		if _, err := Rows(ctx, eng, g, list, o); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
	}
}

// TestDescentIndefinite checks that a start without a factor leaves the work to the projections.
func TestDescentIndefinite(t *testing.T) {
	g, list := sparse(rand.New(rand.NewPCG(2, 2)), 50, 12, 200)
	flat := blas.NewMatrix(12, 12) // of rank 11
	for i := range 11 {
		flat.Set(i, i, 1)
	}
	found, err := Rows(context.Background(), enginetest.New(t, 1), g, list, Options{
		Gamma: 1, Tolerance: 1e-6, MaxSweeps: 1000, many: true,
		Start: &Result{A: flat, Multipliers: make([]float64, len(list))},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range found.A.Data {
		if math.IsNaN(v) {
			t.Fatalf("element %d is not a number", i)
		}
	}
}

// TestEndsInASweep: a sweep of many constraints looks at its context before it has ended.
func TestEndsInASweep(t *testing.T) {
	eng, g := enginetest.New(t, 1), enginetest.Matrix(rand.New(rand.NewPCG(3, 3)), 60, 2, 0)
	var list []Constraint
	for i := range g.Rows {
		for j := range i {
			list = append(list, Constraint{I: i, J: j, Kind: AtMost, Bound: 1, Weight: 1})
		}
	}
	for at := 1; ; at++ {
		ctx, sweeps := enginetest.FailAt(at, enginetest.ErrBroken), 0
		_, err := Kernel(ctx, eng, grams(t, g), list, Options{Gamma: 1, MaxSweeps: 1,
			Progress: func(int, float64) { sweeps++ }})
		if !ctx.Stopped() {
			t.Fatalf("no look in the first sweep; error %v", err)
		}
		if sweeps == 0 && errors.Is(err, enginetest.ErrBroken) &&
			strings.HasPrefix(ctx.Place(), "logdet.(*state).run <") {
			return
		}
	}
}
