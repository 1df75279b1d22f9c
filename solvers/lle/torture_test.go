package lle_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/solvers/lle"
)

// TestWeightsAtAnyScale checks, for local Gram matrices of any size and rank, that weights sum to 1
// and do not change with the unit, or that an error names the row.
func TestWeightsAtAnyScale(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(4, 4))
	for draw := range 200 {
		k, rank := 1+rng.IntN(6), 1+rng.IntN(3)
		rows := make([]float64, k*rank)
		for i := range rows {
			if rows[i] = rng.NormFloat64(); draw%4 == 0 {
				rows[i] = float64(rng.IntN(2)) // copies, and neighbors that coincide
			}
		}
		weights := func(power int, reg float64) ([]float64, error) {
			w, err := lle.Weights(context.Background(), eng, 1, k, func(_ int, g []float64, stride int) {
				for a := range k {
					for b := range a + 1 {
						sum := 0.0
						for r := range rank {
							sum += rows[a*rank+r] * rows[b*rank+r]
						}
						g[(a*k+b)*stride] = math.Ldexp(sum, power)
					}
				}
			}, reg)
			if err != nil {
				return nil, err
			}
			return w.Row(0), nil
		}
		for _, reg := range []float64{1e-3, 1e-12, 0} {
			want, err := weights(0, reg)
			if err != nil {
				if !fault.IsInput(err) || reg > 1e-9 {
					t.Errorf("draw %d, regularization %g: error %v", draw, reg, err)
				}
				continue
			}
			sum, size := 0.0, 0.0
			for _, v := range want {
				sum += v
				size += math.Abs(v)
			}
			if !(math.Abs(sum-1) <= 1e-12*size) {
				t.Errorf("draw %d, regularization %g: weights %g sum to %g", draw, reg, want, sum)
			}
			for _, power := range []int{-960, -300, 300, 960} { // squares of differences of 1e-144 to 1e144
				got, err := weights(power, reg)
				if err != nil {
					// the last bits decide whether a singular matrix is refused
					if !fault.IsInput(err) || reg > 0 {
						t.Errorf("draw %d, regularization %g, times 2^%d: error %v", draw, reg, power, err)
					}
					continue
				}
				for a, v := range got {
					if !(math.Abs(v-want[a]) <= 1e-9*size) {
						t.Errorf("draw %d, regularization %g, times 2^%d: weights %g, want %g", draw, reg,
							power, got, want)
						break
					}
				}
			}
		}
	}
}
