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
func stationarity(p *graphkernel.Problem, v blas.Matrix) (*graphkernel.Combination, error) {
	return p.Combined(func(i, e int) float64 {
		return p.Weight[e] * p.Sign[e] * p.Loss.Slope(p.Sign[e]*graphkernel.Dot(v.Row(i), v.Row(int(p.To[e]))))
	})
}

// bottom is the smallest eigenvalue of a symmetric matrix, to within error, with its unit
// eigenvector.
type bottom struct {
	value, error float64
	vector       []float64
	norm         float64 // of the matrix
}

// least finds the smallest eigenvalue beside the subspace that the rows of null span, to within tol
// times the norm. If that is not quite invariant, the error says by how much.
func least(ctx context.Context, eng *engine.Engine, op operator.Operator, null blas.Matrix, tol float64, seed uint64) (bottom, error) {
	found, err := graphkernel.Lowest(ctx, eng, op, 1, eigen.Options{Tolerance: tol, Seed: seed, Null: null, Products: 20000})
	if err != nil {
		return bottom{}, err
	}
	return bottom{found.Values[0], found.Residuals[0], found.Vectors.Row(0), found.Norm}, nil
}

// mostFactored is the largest order of a matrix that is written out and factored; leastInverted the
// order up to which eigenvectors of the matrix itself are as soon found as those of its inverse.
const mostFactored, leastInverted = 1500, 256

// factor is a Cholesky factor of G + 2 norm N'N + shift I, for the subspace that the rows of N
// span: with the shift G has no eigenvalue below what is told from 0, and those of the subspace are
// out of the way. It is memory of the engine's.
type factor struct {
	l    blas.Matrix
	norm float64
}

// factored returns the factor, and false for a matrix that is too large, or has none. The longest
// column bounds the norm from below. n^3 / 3 flops.
func factored(ctx context.Context, eng *engine.Engine, g *graphkernel.Combination, null blas.Matrix) (f factor, ok bool, err error) {
	n := g.Order()
	if n > mostFactored || eng.Check("stationarity matrix", engine.MatrixBytes(n, n), "") != nil {
		return f, false, nil
	}
	f.l = eng.GetMatrix(n, n)
	if err := g.WriteTo(ctx, eng, f.l); err != nil {
		return f, false, err
	}
	t := eng.Backend().Kernels()
	for i := range n {
		f.norm = max(f.norm, math.Sqrt(t.Dot(f.l.Row(i), f.l.Row(i))))
	}
	shift := 0.9 * certified * f.norm
	if null.Rows > 0 {
		eng.Backend().Syrk(true, 2*f.norm, null, 1, f.l)
	}
	for i := range n {
		f.l.Set(i, i, f.l.At(i, i)+shift)
	}
	err = eng.Cholesky(ctx, f.l)
	if _, is := errors.AsType[*blas.NotPositiveDefiniteError](err); is {
		f.release(eng)
		return f, false, nil
	}
	return f, err == nil, err
}

func (f factor) release(eng *engine.Engine) { eng.PutMatrix(f.l) }

// least is least of the matrix g that was factored: the largest eigenvalue of the inverse, far from
// the others, takes a few solutions where products with g take hundreds.
func (f factor) least(ctx context.Context, eng *engine.Engine, g operator.Operator, null blas.Matrix, tol float64, seed uint64) (bottom, error) {
	found, err := eigen.Top(ctx, eng, operator.Inverse(f.l), 1, eigen.Options{Tolerance: tol, Seed: seed})
	if err != nil {
		return bottom{}, err
	}
	t, v := eng.Backend().Kernels(), found.Vectors.Row(0)
	for k := range null.Rows {
		t.Axpy(-t.Dot(null.Row(k), v), null.Row(k), v)
	}
	t.Scale(1/math.Sqrt(t.Dot(v, v)), v)
	column, image := blas.Matrix{Rows: len(v), Cols: 1, Stride: 1, Data: v}, blas.NewMatrix(len(v), 1)
	if err := g.Multiply(ctx, eng, image, column); err != nil {
		return bottom{}, err
	}
	value := t.Dot(image.Data, v)
	t.Axpy(-value, v, image.Data)
	return bottom{value, math.Sqrt(t.Dot(image.Data, image.Data)), v, f.norm}, nil
}
