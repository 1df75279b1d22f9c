package lleratio

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/lle"
)

// reconstruction returns the neighbours of every point and the weights with which they reconstruct
// it, nil without alpha: in the input space or, for sequences, which have none, in the feature space.
func (f *fit) reconstruction(ctx context.Context) (*graph.Neighbors, blas.Matrix, error) {
	if f.alpha == 0 {
		return nil, blas.Matrix{}, nil
	}
	k := kernel.Linear()
	if _, ok := f.x.(*points.Sequences); ok {
		k = f.kernel
	}
	near, err := graph.Nearest(ctx, f.eng, k, f.x, f.Params.Neighbors)
	if err != nil {
		return nil, blas.Matrix{}, err
	}
	var gram lle.Gram
	if dense, ok := f.x.(*points.Dense); ok {
		gram = lle.OfVectors(f.eng, dense, near.Index, near.K)
	} else {
		value, err := k.Values(ctx, f.eng, f.x)
		if err != nil {
			return nil, blas.Matrix{}, err
		}
		gram = lle.OfKernel(value, near.Index, near.K)
	}
	w, err := lle.Weights(ctx, f.eng, f.x.Len(), near.K, gram, f.Params.RegG)
	return near, w, err
}

// Kernel matrices with eigenvalues below this part of the largest are taken as singular: dividing by
// their square roots would make rounding as large as anything else.
const singular = 1e-11

// orthonormal turns the matrices into coordinates in which an orthonormal basis is one of the feature
// space: with K = R R', R^-1 A R'^-1 and R^-1 B R'^-1, and V = W R^-1. Where K is singular, by points
// that are there twice, R^-1 is made of its eigenvectors, and there are fewer coordinates. gram, a
// and b are destroyed.
func (f *fit) orthonormal(ctx context.Context, gram, a, b blas.Matrix) (blas.Matrix, blas.Matrix, error) {
	m, backend := gram.Rows, f.eng.Backend()
	a.Mirror()
	b.Mirror()
	gram.Mirror() // of which the factor takes the lower triangle
	diagonal := make([]float64, m)
	for i := range m {
		diagonal[i] = gram.At(i, i)
	}
	r := gram
	if err := f.eng.Cholesky(ctx, r); err == nil && regular(r) {
		for _, x := range []blas.Matrix{a, b} {
			backend.Trsm(true, false, r, x)
			backend.Trsm(false, true, r, x)
		}
		f.turn = func(w blas.Matrix) blas.Matrix {
			v := w.Clone()
			backend.Trsm(false, false, r, v)
			return v
		}
		return a, b, ctx.Err()
	}
	if ctx.Err() != nil {
		return a, b, ctx.Err()
	}
	for i, v := range diagonal {
		gram.Set(i, i, v)
		for j := range i {
			gram.Set(i, j, gram.At(j, i))
		}
	}
	w := make([]float64, m)
	if err := f.eng.SymEig(ctx, gram, w, true); err != nil {
		return a, b, err
	}
	first := 0
	for first < m-1 && !(w[first] > singular*w[m-1]) {
		first++
	}
	t := gram.View(first, m, 0, m)
	for i := range t.Rows {
		backend.Kernels().Scale(1/math.Sqrt(w[first+i]), t.Row(i))
	}
	if _, err := f.Params.dims(t.Rows); err != nil {
		return a, b, err
	}
	f.turn = func(w blas.Matrix) blas.Matrix {
		v := blas.NewMatrix(w.Rows, m)
		backend.Gemm(false, false, 1, w, t, 0, v)
		return v
	}
	return f.within(t, a), f.within(t, b), ctx.Err()
}

// within returns T X T'.
func (f *fit) within(t, x blas.Matrix) blas.Matrix {
	half, out := f.eng.NewMatrix(t.Rows, x.Cols), f.eng.NewMatrix(t.Rows, t.Rows)
	f.eng.Backend().Gemm(false, false, 1, t, x, 0, half)
	f.eng.Backend().Gemm(false, true, 1, half, t, 0, out)
	return out
}

// regular says whether a Cholesky factor is that of a matrix far from singular.
func regular(r blas.Matrix) bool {
	least, most := math.Inf(1), 0.0
	for i := range r.Rows {
		least, most = min(least, r.At(i, i)), max(most, r.At(i, i))
	}
	return least*least > singular*most*most
}
