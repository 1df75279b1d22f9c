package optimize

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/propertytest"
)

// TestIsotonicOptimal compares the fit with another algorithm, projected gradients on the
// differences with their multipliers, and checks the optimality conditions: sums of residuals from
// the left are not above 0, and 0 where x rises.
func TestIsotonicOptimal(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "n")
		y := rapid.SliceOfN(rapid.Float64Range(-5, 5), n, n).Draw(t, "y")
		w := rapid.SliceOfN(rapid.Float64Range(0.1, 4), n, n).Draw(t, "w")
		x, err := Rising(y, w)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i := range x {
			if sum += w[i] * (x[i] - y[i]); sum > 1e-12*float64(n) {
				t.Fatalf("the first %d residuals sum to %g: a lower value there would be better", i+1, sum)
			}
			if i+1 == n || x[i+1] > x[i] {
				if math.Abs(sum) > 1e-11*float64(n) {
					t.Fatalf("the residuals up to a rise at %d sum to %g", i, sum)
				}
			} else if x[i+1] < x[i] {
				t.Fatalf("%v falls at %d", x, i)
			}
		}
		for i, v := range dykstra(y, w) {
			if math.Abs(v-x[i]) > 1e-9 {
				t.Fatalf("%v, another algorithm finds %v", x, dykstra(y, w))
			}
		}
		turned := slices.Clone(y)
		for i := range turned {
			turned[i] = -turned[i]
		}
		falling, err := Falling(turned, w)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range falling {
			if math.Abs(v+x[i]) > 1e-12 {
				t.Fatalf("falling %v, rising %v", falling, x)
			}
		}
	})
}

// dykstra projects on x_i <= x_i+1 for one i after the other, with corrections.
func dykstra(y, w []float64) []float64 {
	x := slices.Clone(y)
	pull := make([]float64, len(y))
	for range 20000 {
		moved := 0.0
		for i := range len(y) - 1 {
			// x minimizes with the multiplier pull[i] >= 0 of this constraint
			both := 1/w[i] + 1/w[i+1]
			next := max(0, pull[i]+(x[i]-x[i+1])/both)
			d := next - pull[i]
			x[i] -= d / w[i]
			x[i+1] += d / w[i+1]
			moved = max(moved, math.Abs(d))
			pull[i] = next
		}
		if moved < 1e-14 {
			break
		}
	}
	return x
}

func TestRejects(t *testing.T) {
	for name, c := range map[string]struct{ y, w []float64 }{
		"NaN":           {[]float64{1, math.NaN()}, nil},
		"infinite":      {[]float64{math.Inf(1)}, nil},
		"weights":       {[]float64{1, 2}, []float64{1}},
		"weight of 0":   {[]float64{1, 2}, []float64{1, 0}},
		"weight of NaN": {[]float64{1, 2}, []float64{1, math.NaN()}},
	} {
		if _, err := Rising(c.y, c.w); !fault.IsInput(err) {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	if x, err := Rising([]float64{3, 1, 2}, nil); err != nil || !slices.Equal(x, []float64{2, 2, 2}) {
		t.Errorf("%v, error %v: want 2, 2, 2", x, err)
	}
}
