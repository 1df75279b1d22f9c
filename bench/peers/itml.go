package peers

import (
	"context"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// The numbers of pairs, half of them must-links, and of sweeps over them in the case itml, the same
// as in peers.py.
const (
	itmlPairs  = 1000
	itmlSweeps = 10
)

// itml learns a linear metric from random pairs of random points.
func itml(ctx context.Context, s Subject, n, d int) (func(), func() error, func() float64, error) {
	x := matrix(1, n, d)
	constraints := make([]logdet.Constraint, itmlPairs)
	for k := range constraints {
		i, j := int(uniform(3, 2*k)*float64(n)), int(uniform(3, 2*k+1)*float64(n-1))
		if j >= i {
			j++
		}
		constraints[k] = logdet.Constraint{Kind: logdet.AtMost, I: i, J: j, Bound: 0.08 * float64(d)}
		if k >= itmlPairs/2 {
			constraints[k].Kind, constraints[k].Bound = logdet.AtLeast, 0.25*float64(d)
		}
	}
	var a blas.Matrix
	run := func() error {
		res, err := logdet.Rows(ctx, s.Engine, x, constraints,
			logdet.Options{Gamma: 1, Tolerance: 1e-300, MaxSweeps: itmlSweeps})
		if err == nil {
			a = res.A
		}
		return err
	}
	return nil, run, func() float64 { return s.Table.Sum(a.Data) }, nil
}
