package operator_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/solvers/operator"
)

// TestSystemsOfAnySize checks systems of any size, condition number and right-hand side: they are
// solved to the tolerance, or reported as not positive definite, or as not converged with the best
// solution so far.
func TestSystemsOfAnySize(t *testing.T) {
	eng, rng := enginetest.New(t, 1), rand.New(rand.NewPCG(6, 6))
	// of a semidefinite matrix, of an indefinite one
	for _, condition := range []float64{1, 1e8, 1e16, math.Inf(1), -1} {
		for _, power := range []int{0, -1000, -400, 400, 900} {
			for _, right := range []float64{0, 1, 1e-300, 1e-150, 1e140} {
				const n = 12
				a, b := blas.NewMatrix(n, n), blas.NewMatrix(n, 2)
				for i := range n {
					v := math.Pow(math.Abs(condition), -float64(i)/(n-1))
					if math.IsInf(condition, 1) {
						v = float64(i % 2)
					}
					if condition < 0 && i == 3 {
						v = -1
					}
					a.Set(i, i, math.Ldexp(v, power))
					b.Set(i, 0, right*rng.NormFloat64())
				}
				op, err := operator.Dense(a)
				if err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("condition %g, times 2^%d, right-hand side %g", condition, power, right)
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				r, err := operator.Solve(ctx, eng, op, b, operator.SolveOptions{Iterations: 200})
				cancel()
				slow, isSlow := errors.AsType[*operator.NoSolutionError](err)
				switch {
				case isSlow:
					r = slow.Best
				case err != nil && (!fault.IsInput(err) || condition == 1 && power == 0 && right == 1):
					t.Errorf("%s: error %v", what, err)
				}
				if err != nil && !isSlow {
					continue
				}
				for k, v := range r.X.Data {
					if v-v != 0 && !isSlow {
						t.Errorf("%s: value %d is %v", what, k, v)
						break
					}
				}
				for _, v := range r.Residuals {
					if !isSlow && !(v <= 2e-10) { // twice the tolerance, for rounding
						t.Errorf("%s: residual %g", what, v)
					}
				}
			}
		}
	}
}
