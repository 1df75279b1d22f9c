package graphkernel

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/internal/propertytest"
)

// TestSoft compares the softened loss of a link with its definition, the maximum over b of
// b u - conjugate(b) - (b - a)^2 / (2 rho), up to a constant, and twice its slope with the b of the
// maximum.
func TestSoft(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		w, a := rapid.Float64Range(0.1, 50).Draw(t, "w"), rapid.Float64Range(0, 0.2).Draw(t, "a")
		p := &Problem{Loss: rapid.SampledFrom([]Loss{Square, SquaredHinge, Hinge}).Draw(t, "loss"),
			To: []int32{0}, Weight: []float64{w}}
		growth, most := rapid.Float64Range(1, 9).Draw(t, "growth"),
			rapid.Float64Range(0.1, 30).Draw(t, "most")
		rho, lower, upper := growth*most, math.Inf(-1), math.Inf(1)
		if p.Loss != Square {
			lower = 0
		}
		if p.Loss == Hinge {
			rho, upper = growth*min(2*w, most), 2*w
		}
		definition := func(u float64) (value, b float64) {
			conjugate := func(b float64) float64 {
				if p.Loss == Hinge {
					return 0
				}
				return b * b / (4 * w)
			}
			at := func(b float64) float64 { return b*u - conjugate(b) - (b-a)*(b-a)/(2*rho) }
			lo, hi := max(lower, -1e4), min(upper, 1e4) // a concave function of one number
			for range 200 {
				if x, y := lo+(hi-lo)/3, hi-(hi-lo)/3; at(x) < at(y) {
					lo = x
				} else {
					hi = y
				}
			}
			return at((lo + hi) / 2), (lo + hi) / 2
		}
		soft := p.Soften(Multipliers{a}, growth, most)
		zero, _ := definition(-50)
		if p.Loss == Square {
			zero, _ = definition(-a / rho)
		}
		for range 10 {
			u := rapid.Float64Range(-3, 3).Draw(t, "u")
			want, b := definition(u)
			if got := soft.Charge(0, 1-u); math.Abs(got-(want-zero)) > 1e-9*(1+math.Abs(want)) {
				t.Fatalf("the loss is %.12g at the residual %g, by definition %.12g", got, u, want-zero)
			}
			if got := 2 * soft.Slope(0, 1-u); math.Abs(got-b) > 1e-4*(1+math.Abs(b)) {
				t.Fatalf("the multiplier is %.12g at the residual %g, by definition %.12g", got, u, b)
			}
		}
	})
}
