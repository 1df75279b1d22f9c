package traceratio_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/solvers/traceratio"
)

// TestRatiosOfAnySize checks matrices of any size and rank, by Newton's method and by bisection:
// the result is an orthonormal basis and a ratio that is not below that of all directions, or an
// input error.
func TestRatiosOfAnySize(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(7, 2))
	for draw := range 400 {
		m := 1 + rng.IntN(8)
		d := 1 + rng.IntN(m)
		semidefinite := func() blas.Matrix {
			rank, size := rng.IntN(m+2), math.Pow(10, float64(rng.IntN(201)-100))
			x, out := blas.NewMatrix(max(1, rank), m), blas.NewMatrix(m, m)
			for i := range x.Data {
				if x.Data[i] = rng.NormFloat64() * math.Pow(10, -float64(draw%4*(i%m))); rank == 0 {
					x.Data[i] = 0
				}
			}
			eng.Backend().Gemm(true, false, size, x, x, 0, out)
			for i := range m {
				out.Set(i, i, out.At(i, i)+size*float64(draw%2)*1e-15)
			}
			return out
		}
		a, b := semidefinite(), semidefinite()
		what := fmt.Sprintf("draw %d, order %d, %d directions", draw, m, d)
		trace := func(x blas.Matrix) (sum float64) {
			for i := range m {
				sum += x.At(i, i)
			}
			return sum
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		r, err := traceratio.Solve(ctx, eng, a, b, d, traceratio.Options{Bisect: draw%3 == 0})
		cancel()
		if err != nil {
			if !fault.IsInput(err) {
				t.Errorf("%s: error %v", what, err)
			}
			continue
		}
		if whole := trace(a) / trace(b); math.IsNaN(r.Ratio) || r.Ratio < whole*(1-1e-9) &&
			!math.IsInf(r.Ratio, 1) {
			t.Errorf("%s: ratio %g, of all directions %g", what, r.Ratio, whole)
		}
		for i := range d {
			for j := range d {
				dot, want := 0.0, 0.0
				for k, v := range r.W.Row(i) {
					dot += v * r.W.At(j, k)
				}
				if i == j {
					want = 1
				}
				if !(math.Abs(dot-want) <= 1e-12) {
					t.Errorf("%s: directions %d and %d have the product %g", what, i, j, dot)
				}
			}
		}
	}
}
