package gml

import (
	"math"
	"math/rand/v2"
	"testing"
)

// lowest finds the minimum of a polynomial of degree 4 to rounding, and refuses values without one
// between the points.
func TestLowest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 1000 {
		// convex, with its minimum at a drawn place: the derivative is (t-at) (a + b t + c t^2)
		at, a, b, c := 4*rng.Float64()-2, 1+rng.Float64(), .2*rng.NormFloat64(), .05*rng.Float64()
		value := func(t float64) float64 { // its integral
			return a*t*t/2 + b*t*t*t/3 + c*t*t*t*t/4 - at*(a*t+b*t*t/2+c*t*t*t/3)
		}
		var f [5]float64
		for k := range f {
			f[k] = 10 + value(float64(k-2))
		}
		got := lowest(f)
		if got == 0 {
			continue
		}
		found++
		if !(math.Abs(got-at) < 1e-12) {
			t.Fatalf("the minimum is at %v: want %v", got, at)
		}
	}
	if found < 900 {
		t.Errorf("%d of 1000 minima found", found)
	}
	inf := math.Inf(1)
	for _, f := range [][5]float64{{0, 1, 2, 1, 0}, {1, 2, 3, 4, 5}, {inf, 1, 0, 1, 4}, {0, 0, 0, 0, 0},
		{math.NaN(), 1, 0, 1, 4}} {
		if got := lowest(f); got != 0 {
			t.Errorf("%v: %v", f, got)
		}
	}
}
