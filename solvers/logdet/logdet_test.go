package logdet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// drawn returns points, and constraints that some metric satisfies, with slack or without.
func drawn(t *rapid.T, n, r int) (blas.Matrix, []Constraint) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
	g := blas.NewMatrix(n, r)
	for i := range g.Data {
		g.Data[i] = rng.NormFloat64()
	}
	scale := make([]float64, r) // a diagonal metric
	for c := range scale {
		scale[c] = math.Exp(rng.NormFloat64())
	}
	distance := func(i, j int) float64 {
		sum := 0.0
		for c, s := range scale {
			d := g.At(i, c) - g.At(j, c)
			sum += s * d * d
		}
		return sum
	}
	var list []Constraint
	for range rapid.IntRange(1, 12).Draw(t, "constraints") {
		rows := rng.Perm(n)
		c := Constraint{Kind: Kind(rng.IntN(3)), I: rows[0], J: rows[1], K: rows[2],
			Weight: []float64{0, 1, 0.3, 4}[rng.IntN(4)]}
		switch d := distance(c.I, c.J); c.Kind {
		case AtMost:
			c.Bound = d * (1 + 0.5*rng.Float64())
		case AtLeast:
			c.Bound = d / (1 + 0.5*rng.Float64())
		default:
			if distance(c.I, c.K) < d {
				c.J, c.K = c.K, c.J
			}
			far, near := distance(c.I, c.K), distance(c.I, c.J)
			if c.Bound = (far - near) / (1 + 0.5*rng.Float64()); c.Bound < 0.05*far {
				continue // if the margin is a small part of the distances, only few of its digits are right
			}
		}
		list = append(list, c)
	}
	return g, list
}

// TestWeightIsRepetition checks that a constraint of weight 2 is equivalent to the constraint
// twice: a large weight makes its slack expensive, a small one cheap.
func TestWeightIsRepetition(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		g, list := drawn(t, rapid.IntRange(4, 12).Draw(t, "n"), rapid.IntRange(2, 9).Draw(t, "r"))
		var heavy, twice []Constraint
		for k, c := range list {
			if c.Weight = 1; k%2 == 0 {
				twice = append(twice, c, c)
				c.Weight = 2
			} else {
				twice = append(twice, c)
			}
			heavy = append(heavy, c)
		}
		o := Options{Gamma: rapid.Float64Range(0.1, 10).Draw(t, "gamma"), Tolerance: 1e-12, MaxSweeps: 20000}
		eng := enginetest.New(t, 1)
		one, err := Rows(context.Background(), eng, g, heavy, o)
		if err != nil {
			t.Fatal(err)
		}
		two, err := Rows(context.Background(), eng, g, twice, o)
		if err != nil {
			t.Fatal(err)
		}
		if !one.Converged || !two.Converged {
			t.Skip("slow to converge")
		}
		for i := range one.A.Rows {
			for j, v := range one.A.Row(i) {
				if w := two.A.At(i, j); math.Abs(v-w) > 1e-7*(largest(one.A)+largest(two.A)) {
					t.Fatalf("A[%d][%d] is %g, with constraints repeated %g", i, j, v, w)
				}
			}
		}
	})
}

// TestOptimal checks the optimality conditions for all kinds of constraints, with slack and
// without.
func TestOptimal(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		g, list := drawn(t, rapid.IntRange(4, 12).Draw(t, "n"), rapid.IntRange(2, 9).Draw(t, "r"))
		o := Options{Gamma: rapid.SampledFrom([]float64{0.01, 1, 10, math.Inf(1)}).Draw(t, "gamma"),
			Tolerance: 1e-13, MaxSweeps: 200000}
		eng := enginetest.New(t, 0)
		res, err := Rows(context.Background(), eng, g, list, o)
		if err != nil {
			t.Fatal(err)
		}
		if k := res.CheckRows(eng, g, list, o.Gamma); !res.Converged || !(k.Largest() <= 1e-10) {
			t.Fatalf("%d sweeps, converged %v, residuals %+v", res.Sweeps, res.Converged, k)
		}
		for k, l := range res.Multipliers {
			if l < 0 || !(res.Bounds[k] > 0) {
				t.Fatalf("constraint %d has multiplier %g and bound %g", k, l, res.Bounds[k])
			}
		}
	})
}

// TestFormsAgree checks that the form on a whole kernel matrix and the form on its factor give the
// same result.
func TestFormsAgree(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(4, 30).Draw(t, "n")
		g, list := drawn(t, n, n)
		for i := range n {
			g.Set(i, i, g.At(i, i)+3)
		}
		o := Options{Gamma: rapid.SampledFrom([]float64{0.1, 1, 10}).Draw(t, "gamma"), Tolerance: 1e-13,
			MaxSweeps: 100000}
		ctx, eng := context.Background(), enginetest.New(t, 0)
		a, err := Rows(ctx, eng, g, list, o)
		if err != nil {
			t.Fatal(err)
		}
		half, want, k := blas.NewMatrix(n, n), blas.NewMatrix(n, n), blas.NewMatrix(n, n)
		eng.Backend().Gemm(false, false, 1, g, a.A, 0, half)
		eng.Backend().Gemm(false, true, 1, half, g, 0, want)
		eng.Backend().Gemm(false, true, 1, g, g, 0, k)
		k0 := k.Clone()
		b, err := Kernel(ctx, eng, k, list, o)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range b.A.Data {
			if math.Abs(v-want.Data[i]) > 1e-8*largest(want) {
				t.Fatalf("element %d is %g on the kernel matrix, %g on its factor", i, v, want.Data[i])
			}
		}
		residuals, err := b.CheckKernel(ctx, eng, k0, list, o.Gamma)
		if err != nil || !(residuals.Largest() <= 1e-9) {
			t.Fatalf("residuals %+v, error %v", residuals, err)
		}
	})
}

// TestCrossover checks that large matrices, which the backend changes, give the same result as
// small ones.
func TestCrossover(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n, r = 40, 7
	thin, wide := blas.NewMatrix(n, r), blas.NewMatrix(n, crossover+5)
	for i := range n {
		for c := range r {
			v := rng.NormFloat64()
			thin.Set(i, c, v)
			wide.Set(i, 3*c+1, v) // other coordinates are 0
		}
	}
	var list []Constraint
	for range 40 {
		rows := rng.Perm(n)
		list = append(list, Constraint{Kind(rng.IntN(3)), rows[0], rows[1], rows[2], 0.2 + rng.Float64(), 0})
	}
	ctx, eng := context.Background(), enginetest.New(t, 0)
	o := Options{Gamma: 1, Tolerance: 1e-10, MaxSweeps: 5000}
	a, err := Rows(ctx, eng, thin, list, o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Rows(ctx, eng, wide, list, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r {
		for j := range r {
			if x, y := a.A.At(i, j), b.A.At(3*i+1, 3*j+1); math.Abs(x-y) > 1e-9*(1+math.Abs(x)) {
				t.Fatalf("(%d, %d) is %g and %g", i, j, x, y)
			}
		}
	}
}

// TestOneConstraint uses that one constraint on one distance has a closed form.
func TestOneConstraint(t *testing.T) {
	for _, gamma := range []float64{0.01, 1, 10, math.Inf(1)} {
		for _, c := range []Constraint{{Kind: AtMost, I: 0, J: 1, Bound: 2},
			{Kind: AtLeast, I: 0, J: 1, Bound: 9}, {Kind: AtMost, I: 0, J: 1, Bound: 5}} {
			g := blas.MatrixOf(2, 1, []float64{1, 3}) // at the squared distance 4
			res, err := Rows(context.Background(), enginetest.New(t, 0), g, []Constraint{c},
				Options{Gamma: gamma, Tolerance: 1e-14})
			if err != nil {
				t.Fatal(err)
			}
			// With p = 4 A: minimize A - log A + gamma (x - log x), where x = p / bound if the
			// bound is violated.
			want := 1.0
			if sign := c.sign(); sign*(4-c.Bound) > 0 {
				if want = (1 + gamma) / (1 + 4*gamma/c.Bound); math.IsInf(gamma, 1) {
					want = c.Bound / 4
				}
			}
			if got := res.A.At(0, 0); math.Abs(got-want) > 1e-12 {
				t.Errorf("gamma %g, %+v: A is %.15g, want %.15g", gamma, c, got, want)
			}
		}
	}
}

// TestStart checks that a result can be continued from another one, with fewer sweeps.
func TestStart(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		g, list := drawn(t, 10, 4)
		ctx, eng := context.Background(), enginetest.New(t, 0)
		rough, err := Rows(ctx, eng, g, list, Options{Gamma: 1, Tolerance: 1e-4})
		if err != nil {
			t.Fatal(err)
		}
		warm, err := Rows(ctx, eng, g, list,
			Options{Gamma: 1, Tolerance: 1e-12, Start: rough, MaxSweeps: 100000})
		if err != nil {
			t.Fatal(err)
		}
		cold, err := Rows(ctx, eng, g, list, Options{Gamma: 1, Tolerance: 1e-12, MaxSweeps: 100000})
		if err != nil {
			t.Fatal(err)
		}
		if warm.Sweeps > cold.Sweeps || warm.CheckRows(eng, g, list, 1).Largest() > 1e-8 {
			t.Fatalf("%d sweeps, %d without a start; residuals %+v", warm.Sweeps, cold.Sweeps,
				warm.CheckRows(eng, g, list, 1))
		}
	})
}

// TestOddities checks that constraints between points that coincide are skipped and listed, and
// that a limit on the sweeps is reported.
func TestOddities(t *testing.T) {
	g := blas.MatrixOf(4, 2, []float64{1, 2, 1, 2, 0, 0, 3, 1})
	list := []Constraint{{Kind: AtLeast, I: 0, J: 1, Bound: 1}, {Kind: AtMost, I: 1, J: 0, Bound: 1},
		{Kind: AtMost, I: 2, J: 3, Bound: 1}, {Kind: AtLeast, I: 0, J: 3, Bound: 30}}
	ctx, eng := context.Background(), enginetest.New(t, 0)
	res, err := Rows(ctx, eng, g, list, Options{Gamma: 1})
	if err != nil || fmt.Sprint(res.Skipped) != "[0 1]" || !res.Converged {
		t.Fatalf("error %v, result %+v", err, res)
	}
	if res, err = Rows(ctx, eng, g, list, Options{Gamma: 1, MaxSweeps: 1, Tolerance: 1e-9}); err != nil ||
		res.Converged || res.Sweeps != 1 {
		t.Fatalf("error %v, result %+v", err, res)
	}
	k := blas.NewMatrix(4, 4)
	eng.Backend().Gemm(false, true, 1, g, g, 0, k)
	if res, err = Kernel(ctx, eng, k, list, Options{Gamma: 1}); err != nil ||
		fmt.Sprint(res.Skipped) != "[0 1]" {
		t.Fatalf("error %v, result %+v", err, res)
	}
	for name, c := range map[string]struct {
		list []Constraint
		o    Options
	}{
		"gamma":     {list, Options{}},
		"NaN":       {list, Options{Gamma: math.NaN()}},
		"tolerance": {list, Options{Gamma: 1, Tolerance: -1}},
		"sweeps":    {list, Options{Gamma: 1, MaxSweeps: -1}},
		"outside":   {[]Constraint{{Kind: AtMost, I: 0, J: 4, Bound: 1}}, Options{Gamma: 1}},
		"itself":    {[]Constraint{{Kind: AtMost, I: 2, J: 2, Bound: 1}}, Options{Gamma: 1}},
		"triple":    {[]Constraint{{Kind: Nearer, I: 0, J: 1, K: 1, Bound: 1}}, Options{Gamma: 1}},
		"bound":     {[]Constraint{{Kind: AtMost, I: 0, J: 1}}, Options{Gamma: 1}},
		"kind":      {[]Constraint{{Kind: 7, I: 0, J: 1, Bound: 1}}, Options{Gamma: 1}},
		"weight":    {[]Constraint{{Kind: AtMost, I: 0, J: 1, Bound: 1, Weight: -1}}, Options{Gamma: 1}},
		"start":     {list, Options{Gamma: 1, Start: &Result{}}},
	} {
		if _, err := Rows(ctx, eng, g, c.list, c.o); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Rows(done, eng, g, list, Options{Gamma: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
}

// BenchmarkRows times projections of order 20, and sweeps over a kernel matrix of 2000 points with
// 5000 pairs.
func BenchmarkRows(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	g := blas.NewMatrix(200, 20)
	for i := range g.Data {
		g.Data[i] = rng.NormFloat64()
	}
	var list []Constraint
	for range 1000 {
		rows := rng.Perm(200)
		list = append(list, Constraint{Kind: Kind(rng.IntN(2)), I: rows[0], J: rows[1],
			Bound: 10 + 50*rng.Float64()})
	}
	eng := enginetest.New(b, 1)
	total := 0
	for b.Loop() {
		res, err := Rows(context.Background(), eng, g, list,
			Options{Gamma: 1, Tolerance: 1e-300, MaxSweeps: 100, patience: -1})
		if err != nil {
			b.Fatal(err)
		}
		total += res.Sweeps * len(list)
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds()/1e6, "Mprojections/s")
}

func BenchmarkKernel(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 2000
	g := blas.NewMatrix(n, 30)
	for i := range g.Data {
		g.Data[i] = rng.NormFloat64()
	}
	eng := enginetest.New(b, 2)
	k := blas.NewMatrix(n, n)
	eng.Backend().Gemm(false, true, 1, g, g, 0, k)
	for i := range n {
		k.Set(i, i, k.At(i, i)+1)
	}
	var list []Constraint
	for range 5000 {
		rows := rng.Perm(n)
		list = append(list, Constraint{Kind: Kind(rng.IntN(2)), I: rows[0], J: rows[1],
			Bound: 20 + 70*rng.Float64()})
	}
	var res *Result
	for b.Loop() {
		var err error
		if res, err = Kernel(context.Background(), eng, k.Clone(), list,
			Options{Gamma: 1, Tolerance: 1e-3, patience: -1}); err != nil {
			b.Fatal(err)
		}
	}
	elapsed := b.Elapsed().Seconds() / float64(b.N)
	kkt, err := res.CheckKernel(context.Background(), eng, k, list, 1)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(res.Sweeps), "sweeps")
	b.ReportMetric(elapsed/float64(res.Sweeps), "s/sweep")
	b.ReportMetric(kkt.Largest(), "kkt")
}
