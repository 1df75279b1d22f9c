package rowrandom_test

import (
	"math"
	"testing"

	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rowrandom"
)

// The numbers of consecutive rows, streams and seeds fill the tenths of (0, 1) evenly, and are not
// correlated.
func TestUniform(t *testing.T) {
	const n = 100000
	for name, number := range map[string]func(i int) float64{
		"rows":    func(i int) float64 { return rowrandom.Uniform(1, 2, int64(i)) },
		"streams": func(i int) float64 { return rowrandom.Uniform(1, uint64(i), 3) },
		"seeds":   func(i int) float64 { return rowrandom.Uniform(uint64(i), 2, 3) },
	} {
		var tenths [10]float64
		product := 0.0
		for i := range n {
			u := number(i)
			if !(u > 0 && u < 1) {
				t.Fatalf("%s: number %d is %v", name, i, u)
			}
			tenths[int(10*u)]++
			product += (u - 0.5) * (number(i+1) - 0.5) * 12
		}
		chi := 0.0
		for _, count := range tenths {
			chi += (count - n/10) * (count - n/10) / (n / 10)
		}
		// With 9 degrees of freedom, 27.9 is exceeded once in a thousand times. The correlation has
		// standard deviation 1/sqrt(n).
		if !(chi < 27.9) || !(math.Abs(product/n) < 4/math.Sqrt(n)) {
			t.Errorf("%s: chi squared %.1f, correlation %.4f", name, chi, product/n)
		}
	}
	if rowrandom.Uniform(1, 2, 3) != rowrandom.Uniform(1, 2, 3) {
		t.Error("the same row draws another number")
	}
}

// Of two rows the one of weight w comes first with chance w / (w + 1), and one of weight 0 never.
func TestExponential(t *testing.T) {
	const n = 40000
	for _, w := range []float64{0.1, 1, 5} {
		first := 0.0
		for i := range uint64(n) {
			if rowrandom.Exponential(i, 0, 0, w) < rowrandom.Exponential(i, 0, 1, 1) {
				first++
			}
		}
		if want := w / (w + 1); !(math.Abs(first/n-want) < 4*math.Sqrt(want*(1-want)/n)) {
			t.Errorf("weight %v: first in %.4f of the draws, want %.4f", w, first/n, want)
		}
	}
	if v := rowrandom.Exponential(1, 2, 3, 0); !math.IsInf(v, 1) {
		t.Errorf("weight 0: %v, want +Inf", v)
	}
}
