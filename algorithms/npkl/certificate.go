package npkl

import (
	"context"
	"errors"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/solvers/operator"
)

// certified is how precisely the smallest eigenvalue of G is distinguished from 0, relative to the
// norm of G.
const certified = 1e-5

// stationarity returns G = Delta - sum w h t (E_ij + E_ji) at Z = V V'.
func stationarity(p *graphkernel.Problem, v blas.Matrix) (*graphkernel.Combination, error) {
	return p.Combined(func(i, e int) float64 {
		return p.Sign[e] * p.Slope(e, p.Sign[e]*graphkernel.Dot(v.Row(i), v.Row(int(p.To[e]))))
	})
}

// bottom is the smallest eigenvalue of a symmetric matrix, to within error, with its unit
// eigenvector.
type bottom struct {
	value, error float64
	vector       []float64
	norm         float64 // of the matrix
}

// smallest finds the smallest eigenvalue outside the subspace that the rows of null span, to within
// tol times the norm. If that subspace is not quite invariant, the error bound accounts for it.
func smallest(ctx context.Context, eng *engine.Engine, op operator.Operator, null blas.Matrix, tol float64, seed uint64) (bottom, error) {
	found, err := graphkernel.Lowest(ctx, eng, op, 1, operator.EigenOptions{Tolerance: tol, Seed: seed, Null: null, Products: 20000})
	if err != nil {
		return bottom{}, err
	}
	return bottom{found.Values[0], found.Residuals[0], found.Vectors.Row(0), found.Norm}, nil
}

// maxFactored is the largest order of a matrix that is formed and factored. Up to the order
// minInverted, eigenvectors of the matrix itself are found as fast as those of its inverse.
const maxFactored, minInverted = 1500, 256

// factor is a Cholesky factor of G + 2 norm N'N + shift I. Its existence shows that no eigenvalue
// of G is below -shift, which counts as 0; the term of N moves the eigenvalues of the subspace that
// the rows of N span out of the way. The engine owns its memory.
type factor struct {
	l    blas.Matrix
	norm float64
}

// factored returns the factor for the shift that counts as 0, or false for a matrix that is too
// large or has no factor. Cost: n^3 / 3 flops.
func factored(ctx context.Context, eng *engine.Engine, g *graphkernel.Combination, null blas.Matrix) (f factor, ok bool, err error) {
	if f, ok, err = formed(ctx, eng, g); !ok || err != nil {
		return f, false, err
	}
	ok, err = f.decompose(ctx, eng, null, 0.9*certified*f.norm)
	return f, ok, err
}

// formed writes G, unless it is too large. The longest column bounds the norm from below.
func formed(ctx context.Context, eng *engine.Engine, g *graphkernel.Combination) (f factor, ok bool, err error) {
	n := g.Order()
	if n > maxFactored || eng.Check("stationarity matrix", engine.MatrixBytes(n, n), "") != nil {
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
	return f, true, nil
}

// decompose replaces G by its factor. Without one, it releases the memory and returns false.
func (f factor) decompose(ctx context.Context, eng *engine.Engine, null blas.Matrix, shift float64) (bool, error) {
	if null.Rows > 0 {
		eng.Backend().Syrk(true, 2*f.norm, null, 1, f.l)
	}
	for i := range f.l.Rows {
		f.l.Set(i, i, f.l.At(i, i)+shift)
	}
	err := eng.Cholesky(ctx, f.l)
	if _, is := errors.AsType[*blas.NotPositiveDefiniteError](err); is {
		f.release(eng)
		return false, nil
	}
	return err == nil, err
}

func (f factor) release(eng *engine.Engine) { eng.PutMatrix(f.l) }

// smallest is the function smallest for the matrix g that was factored. The largest eigenvalue of
// the inverse is far from the others, so it takes a few solutions instead of hundreds of products
// with g.
func (f factor) smallest(ctx context.Context, eng *engine.Engine, g operator.Operator, null blas.Matrix, tol float64, seed uint64) (bottom, error) {
	found, err := operator.TopEigenpairs(ctx, eng, operator.Inverse(f.l), 1, operator.EigenOptions{Tolerance: tol, Seed: seed})
	if err != nil {
		return bottom{}, err
	}
	t, v := eng.Backend().Kernels(), found.Vectors.Row(0)
	for k := range null.Rows {
		t.Axpy(-t.Dot(null.Row(k), v), null.Row(k), v)
	}
	t.Scale(1/math.Sqrt(t.Dot(v, v)), v)
	column, image := blas.MatrixOf(len(v), 1, v), blas.NewMatrix(len(v), 1)
	if err := g.Multiply(ctx, eng, image, column); err != nil {
		return bottom{}, err
	}
	value := t.Dot(image.Data, v)
	t.Axpy(-value, v, image.Data)
	return bottom{value, math.Sqrt(t.Dot(image.Data, image.Data)), v, f.norm}, nil
}
