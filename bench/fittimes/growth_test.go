package fittimes

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
	"pgregory.net/rapid"
)

// TestPowerLaws: Measure finds every exponent, for every factor and unit of the sizes, up to
// rounding, since the logarithms lie on a line.
func TestPowerLaws(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		p := rapid.Float64Range(-4, 4).Draw(t, "exponent")
		factor := math.Exp(rapid.Float64Range(-20, 5).Draw(t, "log of the factor"))
		n := rapid.IntRange(3, 8).Draw(t, "sizes")
		sizes, seconds := make([]float64, n), make([]float64, n)
		for i := range sizes {
			sizes[i] = 100 * math.Pow(1.5, float64(i))
			seconds[i] = factor * math.Pow(sizes[i], p)
		}
		g, err := Measure(sizes, seconds)
		// The logarithms are below 60, with an error of some units in their last place, over a
		// range of sizes whose logarithms differ by 0.8 and more.
		const close = 60 * 16 * 0x1p-52
		if err != nil || math.Abs(g.Exponent-p) > close || g.Error > close {
			t.Fatalf("%+v, error %v: want %v", g, err, p)
		}
		if math.Abs(p) > 1e-3 && math.Abs(g.R2-1) > 1e-9 {
			t.Fatalf("%+v: a power law explains all", g)
		}
	})
}

// TestStandardError: for a line with slope 1/2 and residuals -1/6, 1/3, -1/6 the standard error is
// sqrt(1/6 / 2).
func TestStandardError(t *testing.T) {
	e := math.E
	g, err := Measure([]float64{1, e, e * e}, []float64{1, e, e})
	if err != nil || math.Abs(g.Exponent-0.5) > 1e-15 || math.Abs(g.Error-math.Sqrt(1.0/12)) > 1e-15 ||
		math.Abs(g.R2-0.75) > 1e-15 {
		t.Errorf("%+v, error %v: want 1/2, sqrt(1/12) and 3/4", g, err)
	}
}

// TestNoise: with noise of a known size, the error of the exponent agrees with its standard error.
// The mean of their squared quotients is 1, except for the heavy tails of few degrees of freedom;
// here there are 38.
func TestNoise(t *testing.T) {
	const runs, n = 400, 40
	sum := 0.0
	rng := rand.New(rand.NewPCG(1, 1))
	for range runs {
		sizes, seconds := make([]float64, n), make([]float64, n)
		for i := range sizes {
			sizes[i] = float64(100 + 50*i)
			seconds[i] = 1e-6 * sizes[i] * sizes[i] * math.Exp(0.2*rng.NormFloat64())
		}
		g, err := Measure(sizes, seconds)
		if err != nil {
			t.Fatal(err)
		}
		z := (g.Exponent - 2) / g.Error
		sum += z * z
	}
	// The mean of 400 squares of Student's t with 38 degrees is 38/36, with a standard deviation of
	// about 0.08.
	if m := sum / runs; m < 0.75 || m > 1.4 {
		t.Errorf("mean of the squared quotients %v: want about 1", m)
	}
}

func TestMeasureRefuses(t *testing.T) {
	for _, c := range []struct{ sizes, seconds []float64 }{
		{[]float64{1, 2}, []float64{1, 2}},
		{[]float64{1, 2, 3}, []float64{1, 2}},
		{[]float64{2, 2, 2}, []float64{1, 2, 3}},
		{[]float64{0, 2, 3}, []float64{1, 2, 3}},
		{[]float64{1, 2, 3}, []float64{1, math.NaN(), 3}},
		{[]float64{1, 2, 3}, []float64{1, 0, 3}},
	} {
		if g, err := Measure(c.sizes, c.seconds); !fault.IsInput(err) {
			t.Errorf("%v: %+v, error %v", c, g, err)
		}
	}
	if g, err := Measure([]float64{1, 2, 4}, []float64{3, 3, 3}); err != nil || g != (Growth{R2: 1}) {
		t.Errorf("times that do not grow: %+v, error %v", g, err)
	}
}
