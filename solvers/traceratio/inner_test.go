package traceratio

import (
	"math"
	"testing"
)

// TestChebyshev checks the residual after every step, for eigenvalues all over the spectrum: it is
// at most 1 / T_k(center / radius) for the Chebyshev polynomial of the number of steps, and reaches
// that at the ends.
func TestChebyshev(t *testing.T) {
	const largest, g, rounding = 0.25, 3.0, 1e-12
	for _, delta := range []float64{-80, -3, 0.5, 3.9} {
		for _, at := range []float64{0, 0.1, 0.5, 0.77, 1} {
			s, c := at*largest, newChebyshev(delta, largest)
			x, step := c.alpha*g, g
			for k := 1; k < 8; k++ {
				rest := math.Abs(g-(1-delta*s)*x) / g
				most := 1 / math.Cosh(float64(k)*math.Acosh(c.center/c.radius))
				if !(rest <= most+rounding) || at == 0 && !(rest >= most-rounding) {
					t.Errorf("delta %v, eigenvalue %v, %d steps: residual %v, want at most %v", delta, s, k,
						rest, most)
				}
				c.advance(k)
				x, step = c.move(x, step, g, s*x)
			}
		}
	}
}
