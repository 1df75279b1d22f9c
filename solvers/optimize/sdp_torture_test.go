package optimize

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
)

// TestProgramsOfAnySize checks programs of any size, with A definite, semidefinite or indefinite
// (then without a minimum): they end within the steps at a finite factor; if they report
// convergence, the objective is not above that of Z = 0 and the gap is a bound.
func TestProgramsOfAnySize(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(2, 2))
	for draw := range 120 {
		n, size := 1+rng.IntN(5), math.Pow(10, float64(rng.IntN(25)-12))
		a := blas.NewMatrix(n, n)
		for i := range n {
			a.Set(i, i, size*[]float64{1, 1e-8, 0, -1}[min(draw%5, 3)*b2i(i == 0)])
		}
		var terms []Term
		nothing := 0.0 // the objective of Z = 0
		for range n + 1 {
			weight := math.Pow(10, float64(rng.IntN(13)-6))
			terms = append(terms, Term{I: rng.IntN(n), J: rng.IntN(n), Loss: square(weight)})
			nothing += weight
		}
		what := fmt.Sprintf("draw %d: order %d, A of about %g", draw, n, size)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		r, err := MinimizeSDP(ctx, eng, a, terms, SDPOptions{Steps: 200})
		cancel()
		if err != nil {
			t.Errorf("%s: error %v", what, err)
			continue
		}
		for _, v := range r.Factor.Data {
			if v-v != 0 {
				t.Errorf("%s: factor %v", what, r.Factor.Data)
				break
			}
		}
		if math.IsNaN(r.Objective) || r.Converged && !(r.Objective <= nothing+r.Gap+1e-9*nothing) {
			t.Errorf("%s: objective %g, of nothing %g", what, r.Objective, nothing)
		}
		if r.Steps > 201 {
			t.Errorf("%s: %d steps", what, r.Steps)
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
