package operator_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/solvers/operator"
)

// TestSpectraOfAnySize checks operators of any size with repeated, clustered or vanishing
// eigenvalues, decomposed or searched: the largest eigenvalues are right up to rounding of the
// norm, or the best so far are returned.
func TestSpectraOfAnySize(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(3, 1))
	spectra := map[string]func(i, n int) float64{
		"zero":               func(_, _ int) float64 { return 0 },
		"one value":          func(_, _ int) float64 { return 1 },
		"two values":         func(i, n int) float64 { return float64(2 * i / n) },
		"condition of 1e16":  func(i, n int) float64 { return math.Pow(10, -16*float64(i)/float64(n)) },
		"condition of 1e280": func(i, n int) float64 { return math.Pow(10, -280*float64(i)/float64(n)) },
		"of both signs":      func(i, _ int) float64 { return float64(i%7 - 3) },
		"one large":          func(i, _ int) float64 { return math.Pow(1e12, float64(1-min(i, 1))) },
	}
	for name, value := range spectra {
		for _, n := range []int{1, 2, 3, 40, 300} {
			for _, power := range []int{0, -900, -300, 300, 900} {
				if n > 256 && max(power, -power) > 300 {
					continue // a search squares the elements, a decomposition scales them first
				}
				w := make([]float64, n)
				for i := range w {
					w[i] = math.Ldexp(value(i, n), power)
				}
				rng.Shuffle(n, func(i, j int) { w[i], w[j] = w[j], w[i] })
				k := min(n, 4)
				what := fmt.Sprintf("%s, order %d, times 2^%d", name, n, power)
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				r, err := operator.TopEigenpairs(ctx, eng, diagonal(t, w), k, operator.EigenOptions{Seed: 1})
				cancel()
				if slow, is := errors.AsType[*operator.NoEigenpairsError](err); is {
					r, err = slow.Best, nil
				}
				if err != nil {
					t.Errorf("%s: error %v", what, err)
					continue
				}
				slices.Sort(w)
				norm := max(math.Abs(w[0]), math.Abs(w[n-1]))
				for i, v := range r.Values {
					if !(math.Abs(v-w[n-1-i]) <= 1e-9*norm) {
						t.Errorf("%s: eigenvalue %d is %g: want %g", what, i, v, w[n-1-i])
					}
				}
			}
		}
	}
}
