package optimize

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// square is c (1 - z)^2.
type square float64

func (c square) Smooth(z, _ float64) (f, d1, d2 float64) {
	return float64(c) * (1 - z) * (1 - z), -2 * float64(c) * (1 - z), 2 * float64(c)
}

func (c square) Gap(z, d float64) float64 {
	_, exact, _ := c.Smooth(z, 0)
	return (d - exact) * (d - exact) / (4 * float64(c))
}

// TestOneEntry has one entry and A = a I: <A, Z> >= 2 a |z|, so the minimum is that of 2 a z + c
// (1-z)^2.
func TestOneEntry(t *testing.T) {
	for _, c := range []struct{ a, c float64 }{{0.1, 1}, {0.5, 2}, {0.9, 1}, {3, 1}} {
		a := blas.NewMatrix(3, 3)
		for i := range 3 {
			a.Set(i, i, c.a)
		}
		res, err := MinimizeSDP(context.Background(), enginetest.New(t, 0), a, []Term{{2, 0, square(c.c)}},
			SDPOptions{})
		if err != nil {
			t.Fatal(err)
		}
		z := max(0, 1-c.a/c.c)
		want := 2*c.a*z + c.c*(1-z)*(1-z)
		if !res.Converged || math.Abs(res.Objective-want) > 1e-9 || res.Gap > 1e-9 {
			t.Errorf("a = %g, c = %g: objective %.12g with gap %g, want %.12g", c.a, c.c, res.Objective,
				res.Gap, want)
		}
	}
}

// TestOneNumber has a single number: the dual matrix is 0 at the minimum, and the Hessian can be 0,
// too.
func TestOneNumber(t *testing.T) {
	for _, c := range []float64{0.1, 0.25, 1, 3} {
		a := blas.NewMatrix(1, 1)
		a.Set(0, 0, 0.5)
		res, err := MinimizeSDP(context.Background(), enginetest.New(t, 0), a, []Term{{0, 0, square(c)}},
			SDPOptions{})
		if err != nil {
			t.Fatal(err)
		}
		z := max(0, 1-0.25/c)
		if want := 0.5*z + c*(1-z)*(1-z); !res.Converged || math.Abs(res.Objective-want) > 1e-9 {
			t.Errorf("c = %g: objective %.12g, want %.12g", c, res.Objective, want)
		}
	}
}

// TestGapIsABound checks that no random matrix has an objective that is lower by more than the gap.
func TestGapIsABound(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := rapid.IntRange(2, 9).Draw(t, "n")
		a := blas.NewMatrix(n, n)
		x := make([]float64, n*n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		for i := range n {
			for j := range n {
				for k := range n {
					a.Set(i, j, a.At(i, j)+x[i*n+k]*x[j*n+k]/float64(n))
				}
			}
			a.Set(i, i, a.At(i, i)+0.1)
		}
		var terms []Term
		for range rapid.IntRange(0, 8).Draw(t, "terms") {
			terms = append(terms, Term{rng.IntN(n), rng.IntN(n), square(0.3 + 3*rng.Float64())})
		}
		res, err := MinimizeSDP(context.Background(), enginetest.New(t, 0), a, terms, SDPOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !res.Converged || !(res.Gap <= 1e-10*(1+math.Abs(res.Objective))) {
			t.Fatalf("gap %g after %d steps at %g", res.Gap, res.Steps, res.Objective)
		}
		value := func(l blas.Matrix) float64 {
			sum := 0.0
			for i := range n {
				for j := range n {
					z := 0.0
					for k := range l.Cols {
						z += l.At(i, k) * l.At(j, k)
					}
					sum += a.At(i, j) * z
					for _, u := range terms {
						if u.I == i && u.J == j {
							f, _, _ := u.Loss.Smooth(z, 0)
							sum += f
						}
					}
				}
			}
			return sum
		}
		if got := value(res.Factor); math.Abs(got-res.Objective) > 1e-10*(1+math.Abs(got)) {
			t.Fatalf("objective %.15g, by definition %.15g", res.Objective, got)
		}
		for range 50 {
			other, size := res.Factor.Clone(), math.Pow(10, -5*rng.Float64())
			for i := range other.Data {
				other.Data[i] += size * rng.NormFloat64()
			}
			if f := value(other); f < res.Objective-res.Gap-1e-13 {
				t.Fatalf("a matrix near by has %.15g, the minimum is %.15g with gap %g", f, res.Objective,
					res.Gap)
			}
		}
	})
}

func TestBadInput(t *testing.T) {
	eng := enginetest.New(t, 0)
	a := blas.NewMatrix(2, 2)
	a.Set(0, 0, 1)
	a.Set(1, 1, 1)
	if _, err := MinimizeSDP(context.Background(), eng, blas.NewMatrix(2, 3), nil,
		SDPOptions{}); !fault.IsInput(err) {
		t.Errorf("not square: error %v", err)
	}
	if _, err := MinimizeSDP(context.Background(), eng, a, []Term{{0, 2, square(1)}},
		SDPOptions{}); !fault.IsInput(err) {
		t.Errorf("an entry outside: error %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := MinimizeSDP(ctx, eng, a, nil, SDPOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: error %v", err)
	}
	if res, err := MinimizeSDP(context.Background(), eng, a, []Term{{0, 1, square(1)}},
		SDPOptions{Steps: 2}); err != nil || res.Converged {
		t.Errorf("two steps: %+v, error %v", res, err)
	}
}

// TestCanceledInside: each part of a step ends with the error of its context.
func TestCanceledInside(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := blas.NewMatrix(3, 3)
	a.Shift(1)
	s := newSDPSearch(ctx, enginetest.New(t, 1), a, []Term{{1, 0, square(2)}})
	s.evaluate(s.l)
	for name, part := range map[string]func() (bool, error){
		"search": func() (bool, error) { return s.search(1) },
		"newton": func() (bool, error) { return s.newton(s.l.Clone()) },
	} {
		if moved, err := part(); moved || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: moved %t, error %v", name, moved, err)
		}
	}
}

// bent is the hinge c max(0, 1 - z), smoothed by mu; without mu it says nothing of derivatives.
type bent float64

func (c bent) Smooth(z, mu float64) (f, d1, d2 float64) {
	if mu == 0 {
		return float64(c) * max(0, 1-z), math.NaN(), 0
	}
	half, r := float64(c)/2, math.Hypot(1-z, mu)
	return half * (1 - z + r), -half * (1 + (1-z)/r), half * mu * mu / (r * r * r)
}

func (c bent) Gap(z, d float64) float64 {
	if d < -float64(c) || d > 0 {
		return math.Inf(1)
	}
	return max(0, float64(c)*max(0, 1-z)+d*(1-z))
}

// TestEndsAtRounding: the search for a gap below rounding ends long before its steps are used up,
// near the minimum: that of <A, Z> = z and the hinge 3 max(0, 1 - z) is 1, at z = 1.
func TestEndsAtRounding(t *testing.T) {
	a := blas.NewMatrix(1, 1)
	a.Shift(1)
	res, err := MinimizeSDP(t.Context(), enginetest.New(t, 1), a, []Term{{0, 0, bent(3)}},
		SDPOptions{Tolerance: 1e-300, Steps: 10000})
	if err != nil || res.Steps == 10000 || math.Abs(res.Objective-1) > 1e-6 {
		t.Errorf("objective %v with gap %v after %d steps, error %v: want 1", res.Objective, res.Gap,
			res.Steps, err)
	}
}
