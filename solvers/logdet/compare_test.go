package logdet_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// compared returns n points of q coordinates and k comparisons of them.
func compared(n, q, k int, seed uint64) (blas.Matrix, []logdet.Comparison) {
	rng := rand.New(rand.NewPCG(seed, 7))
	z, list := blas.NewMatrix(n, q), make([]logdet.Comparison, k)
	for i := range z.Data {
		z.Data[i] = rng.NormFloat64()
	}
	for i := range list {
		p := rng.Perm(n)
		list[i] = logdet.Comparison{I: p[0], J: p[1], K: p[2], L: p[3], Weight: 10 * rng.Float64() /
			float64(k)}
		if i%2 == 0 {
			list[i].K = p[0] // a triplet
		}
	}
	return z, list
}

// length returns the distance of two rows in the metric a.
func length(z, a blas.Matrix, i, j int) float64 {
	sum := 0.0
	for r := range a.Rows {
		for c := range a.Cols {
			sum += (z.At(i, r) - z.At(j, r)) * a.At(r, c) * (z.At(i, c) - z.At(j, c))
		}
	}
	return math.Sqrt(sum)
}

// compareObjective returns F by its definition, and the cost of the comparisons.
func compareObjective(t enginetest.Fataler, z blas.Matrix, list []logdet.Comparison,
	a blas.Matrix) (f, loss float64) {
	for _, c := range list {
		v := max(0, length(z, a, c.I, c.J)-length(z, a, c.K, c.L))
		loss += c.Weight * v * v
	}
	w := make([]float64, a.Rows)
	if err := enginetest.New(t, 1).SymEig(context.Background(), a.Clone(), w, false); err != nil {
		t.Fatal(err)
	}
	f = loss
	for _, v := range w {
		if v <= 0 {
			return math.Inf(1), loss
		}
		f += v - math.Log(v) - 1
	}
	return f, loss
}

func compare(t enginetest.Fataler, eng *engine.Engine, z blas.Matrix, list []logdet.Comparison,
	o logdet.CompareOptions) *logdet.Compared {
	if o.MaxIter == 0 {
		o.MaxIter = 1000
	}
	out, err := logdet.Compare(context.Background(), eng, z, list, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCompareIsOptimal checks that the gradient of F vanishes: I - A^-1 + sum w (1 - v/u) uu' + w
// (1 - u/v) vv' = 0 for the lengths u and v of the violated pairs, and so tr A + loss = q. No
// matrix near A has a lower F, and during the search F was within the bound of its minimum.
func TestCompareIsOptimal(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		q := rapid.IntRange(1, 5).Draw(rt, "q")
		z, list := compared(12, q, rapid.IntRange(1, 60).Draw(rt, "comparisons"),
			rapid.Uint64().Draw(rt, "seed"))
		var values, bounds []float64
		out := compare(rt, enginetest.New(rt, 1), z, list,
			logdet.CompareOptions{Tolerance: 1e-13, Progress: func(_ int, objective, bound float64) {
				values, bounds = append(values, objective), append(bounds, bound)
			}})
		if !out.Converged || !slices.Equal(values, out.Trace) {
			rt.Fatalf("converged %v, values %v, trace %v", out.Converged, values, out.Trace)
		}
		f, loss := compareObjective(rt, z, list, out.A)
		least := out.Trace[len(out.Trace)-1]
		if math.Abs(f-least) > 1e-12*float64(q) {
			rt.Fatalf("F is %g by its definition, %g in the trace", f, least)
		}
		for k, v := range values {
			if v-least > bounds[k]+1e-14*float64(q) || k > 0 && v > values[k-1] {
				rt.Fatalf("iteration %d: F is %g above its minimum, and %g at most by the bound; before it "+
					"was %v", k, v-least, bounds[k], values[:k])
			}
		}
		trace, gradient := 0.0, enginetest.Inverse(rt, out.A)
		for i := range gradient.Data {
			gradient.Data[i] *= -1
		}
		for r := range q {
			trace += out.A.At(r, r)
			gradient.Set(r, r, gradient.At(r, r)+1)
		}
		for _, c := range list {
			u, v := length(z, out.A, c.I, c.J), length(z, out.A, c.K, c.L)
			if u <= v {
				continue
			}
			for r := range q {
				for s := range q {
					near := (z.At(c.I, r) - z.At(c.J, r)) * (z.At(c.I, s) - z.At(c.J, s))
					far := (z.At(c.K, r) - z.At(c.L, r)) * (z.At(c.K, s) - z.At(c.L, s))
					gradient.Set(r, s, gradient.At(r, s)+c.Weight*((1-v/u)*near+(1-u/v)*far))
				}
			}
		}
		if math.Abs(trace+loss-float64(q)) > 1e-5 {
			rt.Fatalf("tr A + loss is %g, want %d", trace+loss, q)
		}
		for i, v := range gradient.Data {
			if math.Abs(v) > 1e-5 {
				rt.Fatalf("element %d of the gradient is %g, want 0", i, v)
			}
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for range 50 {
			near, size := out.A.Clone(), math.Pow(10, -4*rng.Float64())
			for r := range q {
				for c := range r + 1 {
					v := near.At(r, c) + size*rng.NormFloat64()
					near.Set(r, c, v)
					near.Set(c, r, v)
				}
			}
			if other, _ := compareObjective(rt, z, list, near); other < f-1e-12 {
				rt.Fatalf("F is %g, and %g near it", f, other)
			}
		}
	})
}

// TestCompareOneCoordinate checks that with one coordinate A = 1 / (1 + sum w r^2) for the
// violations r between the points.
func TestCompareOneCoordinate(t *testing.T) {
	z, list := compared(10, 1, 20, 3)
	sum, one := 1.0, blas.NewMatrix(1, 1)
	one.Set(0, 0, 1)
	for _, c := range list {
		v := max(0, length(z, one, c.I, c.J)-length(z, one, c.K, c.L))
		sum += c.Weight * v * v
	}
	out := compare(t, enginetest.New(t, 1), z, list, logdet.CompareOptions{Tolerance: 1e-20})
	if got := out.A.At(0, 0); math.Abs(got-1/sum) > 1e-9 {
		t.Errorf("A is %g, want %g", got, 1/sum)
	}
}

// TestCompareHeldAndHopeless checks that comparisons that hold leave the identity bit-identical. A
// violated comparison between equal points and others moves these together according to the closed
// form of one pair: A = I - w zz' / (1 + w |z|^2).
func TestCompareHeldAndHopeless(t *testing.T) {
	eng := enginetest.New(t, 1)
	z := blas.NewMatrix(4, 2)
	copy(z.Data, []float64{0, 0, 1, 2, 5, 5, 5, 5})
	out := compare(t, eng, z, []logdet.Comparison{{0, 1, 0, 2, 9}}, logdet.CompareOptions{Tolerance: 1e-6})
	if want := []float64{1, 0, 0, 1}; !slices.Equal(out.A.Data, want) || len(out.Trace) != 1 ||
		out.Trace[0] != 0 {
		t.Errorf("A is %v after %v, want %v at once", out.A.Data, out.Trace, want)
	}
	const w = 2.0
	out = compare(t, eng, z, []logdet.Comparison{{0, 1, 2, 3, w}}, logdet.CompareOptions{Tolerance: 1e-20})
	for i, want := range []float64{1 - w/(1+5*w), -2 * w / (1 + 5*w), -2 * w / (1 + 5*w), 1 - 4*w/(1+5*w)} {
		if math.Abs(out.A.Data[i]-want) > 1e-8 {
			t.Errorf("element %d of A is %g, want %g", i, out.A.Data[i], want)
		}
	}
}

// TestCompareIsTheSame checks that neither the order of comparisons nor that of a pair's rows
// matters, that a comparison of weight 2 is equivalent to two, and that the result is bit-identical
// for any number of workers.
func TestCompareIsTheSame(t *testing.T) {
	z, list := compared(40, 4, 700, 5)
	tight := logdet.CompareOptions{Tolerance: 1e-14}
	want := compare(t, enginetest.New(t, 1), z, list, tight)
	if four := compare(t, enginetest.New(t, 4), z, list, tight); !slices.Equal(four.A.Data, want.A.Data) ||
		!slices.Equal(four.Trace, want.Trace) {
		t.Error("four workers find other bits")
	}
	turned, twice := slices.Clone(list), slices.Concat(list, list)
	slices.Reverse(turned)
	for k := range turned {
		c := &turned[k]
		c.I, c.J, c.K, c.L = c.J, c.I, c.L, c.K
	}
	for k := range twice {
		twice[k].Weight /= 2
	}
	for name, other := range map[string][]logdet.Comparison{"reversed": turned, "twice": twice} {
		got := compare(t, enginetest.New(t, 1), z, other, tight)
		for i, v := range got.A.Data {
			if math.Abs(v-want.A.Data[i]) > 1e-6 {
				t.Errorf("%s: element %d is %g, want %g", name, i, v, want.A.Data[i])
			}
		}
	}
}

func TestCompareEnds(t *testing.T) {
	z, list := compared(12, 3, 40, 6)
	if out := compare(t, enginetest.New(t, 1), z, list,
		logdet.CompareOptions{Tolerance: 1e-12, MaxIter: 2}); out.Converged || len(out.Trace) != 3 ||
		!(out.Bound > 1e-12) {
		t.Errorf("after two iterations: %+v", out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := logdet.Compare(ctx, enginetest.New(t, 1), z, list,
		logdet.CompareOptions{MaxIter: 9}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
