package eigen

import (
	"context"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/solvers/operator"
)

// Bounds estimates the smallest and the largest eigenvalue of A by a few products. The largest is
// bounded from above, in practice (Zhou & Li 2011); the smallest is one of a Krylov space, and so
// not below the smallest of A. Orders up to 256 are decomposed. Errors are those of [Top].
func Bounds(ctx context.Context, eng *engine.Engine, a operator.Operator, seed uint64) (low, high float64, err error) {
	n := a.Order()
	if n == 0 {
		return 0, 0, ctx.Err()
	}
	s := search{Options: Options{Seed: seed, Tolerance: defaultTolerance}, ctx: ctx, eng: eng, a: a, n: n, k: 1, sign: -1}
	if n <= wholeOrder {
		s.k = n
		res, err := s.decompose()
		if err != nil {
			return 0, 0, err
		}
		return res.Values[0], res.Values[n-1], nil
	}
	p, err := s.problem()
	if err != nil {
		return 0, 0, err
	}
	p.Basis = min(p.Basis, 8*p.Block)
	p.Budget, p.Once = p.Basis-p.Block, true
	r, err := p.Find()
	if err != nil {
		return 0, 0, err
	}
	return -r.Values[0], -r.Least + r.LeastResidual, nil
}
