package linear

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
)

// sameClass returns the problem whose gain is the probability of a neighbor of the same class, for
// points of two classes whose means are apart in the first coordinate.
func sameClass(t *testing.T) *SoftmaxProblem {
	t.Helper()
	const n = 24
	eng := enginetest.New(t, 2)
	x := enginetest.Normal(rand.New(rand.NewPCG(5, 6)), n, 3, 0)
	class := func(i int) int { return i % 2 }
	for i := range n {
		x.Row(i)[0] += float64(class(i))
	}
	pc, err := NewPrincipal(t.Context(), eng, x, Constant)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewSoftmax(t.Context(), eng, pc, nil, 2, "points")
	if err != nil {
		t.Fatal(err)
	}
	p.Rule = SoftmaxRule{Points: n, Gain: func(i int, weights []float64, total float64, _ []float64) float64 {
		gain := 0.0
		for j, w := range weights {
			if class(j) == class(i) {
				gain += w / total
			}
		}
		for j, w := range weights {
			weights[j] = -w / total * gain
			if class(j) == class(i) {
				weights[j] += w / total
			}
		}
		return gain
	}}
	return p
}

// The gradient is the slope of the objective at any map, also at one after another.
func TestSoftmaxGradient(t *testing.T) {
	p, rng := sameClass(t), rand.New(rand.NewPCG(7, 8))
	at := func(a []float64) (float64, []float64) {
		gradient := make([]float64, len(a))
		value, err := p.At(a, gradient)
		if err != nil {
			t.Fatal(err)
		}
		return value, gradient
	}
	for range 3 {
		a := enginetest.Matrix(rng, 1, 6, 0).Data
		_, gradient := at(a)
		for k, v := range a {
			const step = 1e-5
			a[k] = v + step
			above, _ := at(a)
			a[k] = v - step
			below, _ := at(a)
			a[k] = v
			if slope := (above - below) / (2 * step); math.Abs(slope-gradient[k]) > 1e-8 {
				t.Errorf("element %d of the gradient is %v: want %v", k, gradient[k], slope)
			}
		}
	}
}

// A search has the gain at the start and after each iteration, never falls, and ends with the error
// of its context. It is perfect within 1e-6 of the largest gain.
func TestClimb(t *testing.T) {
	p := sameClass(t)
	o := SoftmaxOptions{Tol: 1e-3, Contractions: 1, MaxIter: 30, Report: func(algorithms.Progress) {}}
	start := []float64{1, 0, 0, 0, 1, 0}
	first, err := p.At(start, make([]float64, 6))
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Climb(t.Context(), o, start)
	if err != nil {
		t.Fatal(err)
	}
	last, err := p.At(s.Best, make([]float64, 6))
	if n := len(s.Trace); err != nil || n < 3 || s.Status.Iterations != n-1 || s.Trace[0] != -first ||
		s.Trace[n-1] != -last {
		t.Errorf("%d iterations with the gains %v, from %v to %v (%v)", s.Status.Iterations, s.Trace, -first,
			-last, err)
	}
	for k, v := range s.Trace[1:] {
		if v < s.Trace[k] {
			t.Errorf("the gain falls from %v to %v", s.Trace[k], v)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.Report = func(algorithms.Progress) { cancel() }
	p.ctx = ctx
	if _, err := p.Climb(ctx, o, []float64{1, 0, 0, 0, 1, 0}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
	for gain, want := range map[float64]bool{0.5: false, 1 - 2e-6: false, 1 - 5e-7: true, 1: true} {
		if s := (SoftmaxSearch{Trace: []float64{0, gain}}); s.perfect() != want {
			t.Errorf("a gain of %v is perfect: %v", gain, !want)
		}
	}
}

// Whitening makes C + eps I the identity, leaves out directions without variance if eps is 0, and
// refuses what has overflowed.
func TestWhiten(t *testing.T) {
	const q = 5
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(9, 10))
	x, c := enginetest.Matrix(rng, 3, q, 0), blas.NewMatrix(q, q)
	eng.Backend().Gemm(true, false, 1, x, x, 0, c) // of rank 3
	for relative, rows := range map[float64]int{0: 3, 0.5: q} {
		w, err := Whiten(t.Context(), eng, c.Clone(), relative, 1e-10)
		if err != nil || w.Rows != rows {
			t.Fatalf("%d rows, want %d (%v)", w.Rows, rows, err)
		}
		padded, half := c.Clone(), blas.NewMatrix(rows, q)
		padded.Shift(relative * c.Trace() / q)
		unit := blas.NewMatrix(rows, rows)
		eng.Backend().Gemm(false, false, 1, w, padded, 0, half)
		eng.Backend().Gemm(false, true, 1, half, w, 0, unit)
		unit.Shift(-1)
		for _, v := range unit.Data {
			if math.Abs(v) > 1e-10 {
				t.Fatalf("the whitened covariance differs from the identity by %v", v)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Whiten(ctx, eng, c.Clone(), 0, 1e-10); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
	for _, v := range []float64{math.Inf(1), math.NaN()} {
		c.Set(2, 2, v)
		_, err := Whiten(t.Context(), eng, c.Clone(), 0, 1e-10)
		if !fault.IsInput(err) || err.Error() != CheckCovariance(c).Error() {
			t.Errorf("a variance of %v: error %v", v, err)
		}
	}
}
