package optimize_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// drawn returns n rows of k values with a different mean for each column, some equal or zero, and
// costs that sum to 1.
func drawn(n, k int, seed uint64) (blas.Matrix, []float64) {
	rng := rand.New(rand.NewPCG(seed, 9))
	d, c := blas.NewMatrix(n, k), make([]float64, n)
	mean := make([]float64, k)
	for i := range mean {
		mean[i] = rng.NormFloat64()
	}
	for t := range n {
		for i := range k {
			d.Set(t, i, mean[i]+2*rng.NormFloat64())
		}
		c[t] = (0.5 + rng.Float64()) / float64(n)
	}
	for t := range n / 5 {
		copy(d.Row(t), d.Row(n-1-t))
	}
	if k > 2 {
		for t := range n {
			d.Set(t, 1, d.At(t, 0)) // weights that are not unique
			d.Set(t, 2, 0)
		}
	}
	return d, c
}

// objective returns f by its definition.
func objective(d blas.Matrix, c []float64, beta float64, w []float64) float64 {
	f := 0.0
	for _, v := range w {
		f += beta * v
	}
	for t := range d.Rows {
		margin := 1.0
		for i, v := range w {
			margin += d.At(t, i) * v
		}
		f += c[t] * max(0, margin)
	}
	return f
}

func minimize(t enginetest.Fataler, workers int, d blas.Matrix, c []float64, beta,
	tolerance float64) *optimize.HingeResult {
	out, err := optimize.MinimizeHinge(context.Background(), enginetest.New(t, workers), d, c, beta,
		optimize.HingeOptions{Tolerance: tolerance, MaxIter: 200})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestConditions checks the optimality conditions: w and u are feasible, and their products with
// the slacks vanish, so f(w) = sum u.
func TestConditions(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		n, k := rapid.IntRange(1, 60).Draw(rt, "rows"), rapid.IntRange(1, 40).Draw(rt, "weights")
		beta := rapid.SampledFrom([]float64{1e-5, 1e-2, 0.3, 3}).Draw(rt, "beta")
		d, c := drawn(n, k, rapid.Uint64().Draw(rt, "seed"))
		const tol = 1e-9
		out := minimize(rt, 1, d, c, beta, tol)
		if !out.Converged {
			rt.Fatalf("no convergence: gap %g after %d iterations", out.Gap, len(out.Trace)-1)
		}
		f, dual := objective(d, c, beta, out.W), 0.0
		slack := make([]float64, k)
		for i := range slack {
			slack[i] = beta
		}
		for t, u := range out.Dual {
			dual += u
			if !(u >= 0 && u <= c[t]) {
				rt.Fatalf("u %d is %g of a cost %g", t, u, c[t])
			}
			margin := 1.0
			for i, v := range out.W {
				margin += d.At(t, i) * v
				slack[i] += d.At(t, i) * u
			}
			if v := (c[t]-u)*max(0, margin) + u*max(0, -margin); v > tol*1.01 {
				rt.Fatalf("u %d is %g of %g with 1 + d w = %g", t, u, c[t], margin)
			}
		}
		for i, v := range out.W {
			if v < 0 || slack[i] < -1e-12 || v*slack[i] > tol*1.01 {
				rt.Fatalf("weight %d is %g, its slack %g", i, v, slack[i])
			}
		}
		if f-dual > tol*1.01 || f < dual-1e-12 || math.Abs(f-out.Trace[len(out.Trace)-1]) > 1e-12 {
			rt.Fatalf("f is %.15g, the bound %.15g, the trace %v", f, dual, out.Trace)
		}
		for k, v := range out.Trace {
			if k > 0 && v > out.Trace[k-1] {
				rt.Fatalf("the best rises: %v", out.Trace)
			}
		}
	})
}

// TestCorners checks that with two weights the minimum is at a corner, where two of the lines 1 + d
// w = 0, w_1 = 0 and w_2 = 0 meet.
func TestCorners(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		d, c := drawn(rapid.IntRange(1, 12).Draw(rt, "rows"), 2, rapid.Uint64().Draw(rt, "seed"))
		beta := rapid.SampledFrom([]float64{1e-3, 0.1, 1}).Draw(rt, "beta")
		lines := [][3]float64{{1, 0, 0}, {0, 1, 0}}
		for t := range d.Rows {
			lines = append(lines, [3]float64{d.At(t, 0), d.At(t, 1), -1})
		}
		best := math.Inf(1)
		for a, p := range lines {
			for _, q := range lines[:a] {
				det := p[0]*q[1] - p[1]*q[0]
				w := []float64{(p[2]*q[1] - p[1]*q[2]) / det, (p[0]*q[2] - p[2]*q[0]) / det}
				for i := range w {
					if w[i] < 0 && w[i] > -1e-12 {
						w[i] = 0
					}
				}
				if det != 0 && w[0] >= 0 && w[1] >= 0 {
					best = min(best, objective(d, c, beta, w))
				}
			}
		}
		if f := objective(d, c, beta, minimize(rt, 1, d, c, beta, 1e-10).W); math.Abs(f-best) > 1e-9 {
			rt.Fatalf("f is %.12g, at the best corner %.12g", f, best)
		}
	})
}

// TestDearWeights checks that a very large beta leaves no weight, without iterations: with u = c
// all slacks are positive.
func TestDearWeights(t *testing.T) {
	d, c := drawn(30, 5, 2)
	worst := 0.0
	for i := range 5 {
		gain := 0.0
		for t, cost := range c {
			gain -= cost * d.At(t, i)
		}
		worst = max(worst, gain)
	}
	if worst == 0 {
		t.Fatal("no weight is worth anything")
	}
	for _, v := range minimize(t, 1, d, c, worst*1.001, 1e-9).W {
		if v != 0 {
			t.Errorf("a weight is %g, want 0", v)
		}
	}
	if w := minimize(t, 1, d, c, worst*0.98, 1e-12).W; slices.Max(w) == 0 {
		t.Error("no weight, want one that is worth it")
	}
}

// TestSame checks that the result is bit-identical for any number of workers, that the order of
// rows does not matter, and that no rows and zero rows are solved.
func TestSame(t *testing.T) {
	d, c := drawn(600, 30, 4)
	one, four := minimize(t, 1, d, c, 1e-3, 1e-10), minimize(t, 4, d, c, 1e-3, 1e-10)
	if !slices.Equal(one.W, four.W) || !slices.Equal(one.Trace, four.Trace) {
		t.Error("four workers find other bits")
	}
	kept := 0
	for _, v := range one.W {
		if v > 0 {
			kept++
		}
	}
	if kept == 0 || kept > 20 {
		t.Errorf("%d of 30 weights are kept, want few", kept)
	}
	order := rand.New(rand.NewPCG(1, 1)).Perm(600)
	shuffled := make([]float64, 600)
	for t, at := range order {
		shuffled[t] = c[at]
	}
	other := minimize(t, 1, d.Select(order), shuffled, 1e-3, 1e-10)
	if a, b := objective(d, c, 1e-3, one.W), objective(d, c, 1e-3, other.W); math.Abs(a-b) > 2e-10 {
		t.Errorf("in another order f is %.12g, was %.12g", b, a)
	}
	if out := minimize(t, 1, blas.NewMatrix(3, 2), []float64{1, 1, 1}, 0.1, 1e-9); slices.Max(out.W) != 0 ||
		out.Trace[0] != 3 {
		t.Errorf("of rows of zeros: %+v", out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := optimize.MinimizeHinge(ctx, enginetest.New(t, 1), d, c, 0.1,
		optimize.HingeOptions{MaxIter: 5}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
