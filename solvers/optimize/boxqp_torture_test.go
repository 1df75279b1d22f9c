package optimize

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestBoxesOfAnySize checks that programs of all sizes, also singular and nearly singular ones, end
// in the box with an objective that is not above the initial one.
func TestBoxesOfAnySize(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for draw := range 2000 {
		n, rank := 1+rng.IntN(7), 1+rng.IntN(3)
		scale := func() float64 { return math.Pow(10, float64(rng.IntN(141)-70)) }
		rows := make([]float64, n*rank)
		for i := range rows {
			rows[i] = rng.NormFloat64()
			if draw%3 == 0 { // equal and zero columns
				rows[i] = float64(rng.IntN(3) - 1)
			}
		}
		size, p, q, a := scale(), make([]float64, n*n), make([]float64, n), make([]float64, n)
		for i := range n {
			for j := range n {
				for r := range rank {
					p[i*n+j] += size * rows[r*n+i] * rows[r*n+j]
				}
				if draw%5 == 0 && i == j {
					p[i*n+j] *= 1 + 1e-15
				}
			}
		}
		at := scale()
		for i := range q {
			q[i], a[i] = at*rng.NormFloat64(), rng.Float64()
		}
		upper := []float64{1, 1e-30, 1e30}[rng.IntN(3)]
		for i := range a {
			a[i] *= upper
		}
		value := func() (v, terms float64) {
			for i, x := range a {
				v -= q[i] * x
				terms += math.Abs(q[i] * x)
				for j, y := range a {
					v += p[i*n+j] * x * y / 2
					terms += math.Abs(p[i*n+j] * x * y)
				}
			}
			return v, terms
		}
		before, largest := value()
		new(BoxQP).Solve(p, q, upper, a)
		after, terms := value()
		if !(after <= before+1e-9*max(terms, largest)) {
			t.Errorf("draw %d: the objective goes from %g to %g, terms %g", draw, before, after, terms)
		}
		for i, x := range a {
			if !(x >= 0 && x <= upper) {
				t.Errorf("draw %d: variable %d is %v: want 0 to %g", draw, i, x, upper)
			}
		}
	}
}
