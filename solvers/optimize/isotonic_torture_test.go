package optimize_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/internal/propertytest"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// TestRisingOfAnySize checks for values and weights of all sizes that the fit rises, is finite and
// within the range of the values, and that fitting it again does not change it.
func TestRisingOfAnySize(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		odd := rapid.SampledFrom([]float64{0, 1, -1, 1e300, -1e300, math.MaxFloat64, -math.MaxFloat64, 5e-324,
			-5e-324, 1e-300, 3})
		y := rapid.SliceOfN(odd, n, n).Draw(t, "y")
		w := rapid.SliceOfN(rapid.SampledFrom([]float64{1, 5e-324, 1e-300, 1e300, math.MaxFloat64, 2}), n,
			n).Draw(t, "w")
		x, err := optimize.Rising(y, w)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range x {
			if v-v != 0 || v < slices.Min(y) || v > slices.Max(y) || i > 0 && v < x[i-1] {
				t.Fatalf("values %v weights %v: %v", y, w, x)
			}
		}
		again, err := optimize.Rising(x, w)
		if err != nil || !slices.Equal(again, x) {
			t.Fatalf("%v becomes %v, error %v", x, again, err)
		}
	})
}
