package npkl

import (
	"context"
	"errors"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/solvers/eigen"
	"github.com/mustlink/mustlink/solvers/operator"
)

// certified is how precisely the smallest eigenvalue of G is told from 0, relative to its norm.
const certified = 1e-5

// stationarity returns G = Delta - sum w h t (E_ij + E_ji) at Z = V V'.
func stationarity(p *graphkernel.Problem, v blas.Matrix) (operator.Operator, error) {
	return p.Combined(func(i, e int) float64 {
		return p.Weight[e] * p.Sign[e] * p.Loss.Slope(p.Sign[e]*graphkernel.Dot(v.Row(i), v.Row(int(p.To[e]))))
	})
}

// bottom is the smallest eigenvalue of a symmetric matrix, to within error, with its unit eigenvector.
type bottom struct {
	value, error float64
	vector       []float64
	norm         float64 // of the matrix
}

// least finds the smallest eigenvalue beside the subspace that the rows of null span, to within tol times
// the norm. If that is not quite invariant, the error says by how much.
func least(ctx context.Context, eng *engine.Engine, op operator.Operator, null blas.Matrix, tol float64, seed uint64) (bottom, error) {
	found, err := graphkernel.Lowest(ctx, eng, op, 1, eigen.Options{Tolerance: tol, Seed: seed, Null: null, Products: 20000})
	if err != nil {
		return bottom{}, err
	}
	return bottom{found.Values[0], found.Residuals[0], found.Vectors.Row(0), found.Norm}, nil
}

// mostFactored is the largest order of a matrix that is factored to find out whether it is positive.
const mostFactored = 1500

// positive says of a matrix that it has no eigenvalue below what is told from 0, if a Cholesky factor shows it, which takes a
// thirtieth of the flops of eigenvectors. The longest column bounds the norm from below.
func positive(ctx context.Context, eng *engine.Engine, op operator.Operator) (bool, error) {
	n := op.Order()
	if n > mostFactored || eng.Check("stationarity matrix", 2*engine.MatrixBytes(n, n), "") != nil {
		return false, nil
	}
	unit, a := eng.GetMatrix(n, n), eng.GetMatrix(n, n)
	defer eng.PutMatrix(unit)
	defer eng.PutMatrix(a)
	for i := range n {
		clear(unit.Row(i))
		unit.Set(i, i, 1)
	}
	if err := op.Multiply(ctx, eng, a, unit); err != nil {
		return false, err
	}
	norm, t := 0.0, eng.Backend().Kernels()
	for i := range n {
		norm = max(norm, math.Sqrt(t.Dot(a.Row(i), a.Row(i))))
	}
	for i := range n {
		a.Set(i, i, a.At(i, i)+0.9*certified*norm)
	}
	err := eng.Cholesky(ctx, a)
	if _, is := errors.AsType[*blas.NotPositiveDefiniteError](err); is {
		return false, nil
	}
	return err == nil, err
}
