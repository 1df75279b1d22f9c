package logdet_test

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
	"github.com/mustlink/mustlink/solvers/logdet"
)

// TestProjectionsOfOddConstraints checks points of any size and origin with bounds on their
// distances that contradict each other and can be violated: the result is a symmetric positive
// semidefinite matrix with finite multipliers >= 0 and finite bounds > 0 within the sweeps, or an
// input error.
func TestProjectionsOfOddConstraints(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(9, 9))
	for draw := range 400 {
		n, r := 2+rng.IntN(7), 1+rng.IntN(4)
		size, gamma := math.Pow(10, float64(rng.IntN(121)-60)), []float64{1e-3, 0.1, 1, 10}[rng.IntN(4)]
		g := blas.NewMatrix(n, r)
		for i := range g.Data {
			g.Data[i] = size * rng.NormFloat64()
		}
		switch draw % 4 {
		case 1:
			copy(g.Row(1), g.Row(0)) // a link between equal points
		case 2:
			for i := range n {
				g.Set(i, 0, float64(i%2)*size)
			}
		}
		var constraints []logdet.Constraint
		for range 3 * n {
			i, j := rng.IntN(n), rng.IntN(n)
			if i == j {
				continue
			}
			bound := size * size * math.Pow(10, float64(rng.IntN(13)-6))
			constraints = append(constraints,
				logdet.Constraint{Kind: logdet.Kind(rng.IntN(2)), I: i, J: j, Bound: bound})
		}
		what := fmt.Sprintf("draw %d: %d points of %d values of about %g, %d constraints, gamma %g", draw, n,
			r, size, len(constraints), gamma)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		res, err := logdet.Rows(ctx, eng, g, constraints, logdet.Options{Gamma: gamma, MaxSweeps: 100})
		cancel()
		if err != nil {
			if !fault.IsInput(err) {
				t.Errorf("%s: error %v", what, err)
			}
			continue
		}
		if res.Sweeps > 100 {
			t.Errorf("%s: %d sweeps", what, res.Sweeps)
		}
		for k, m := range res.Multipliers {
			if !(m >= 0) || math.IsInf(m, 0) || !(res.Bounds[k] > 0) || math.IsInf(res.Bounds[k], 0) {
				t.Errorf("%s: multiplier %v, bound %v", what, m, res.Bounds[k])
				break
			}
		}
		a, w := res.A.Clone(), make([]float64, r)
		if err := eng.SymEig(context.Background(), a, w, false); err != nil {
			t.Errorf("%s: %v", what, err)
		} else if w[0] < -1e-9*w[r-1] {
			t.Errorf("%s: eigenvalues %g", what, w)
		}
	}
}
