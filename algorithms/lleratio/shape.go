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

// reconstruction returns the neighbors of every point and the weights with which they reconstruct
// it, nil without alpha: in the input space or, for sequences, which have none, in the feature
// space.
func (f *fit) reconstruction(ctx context.Context) (*graph.Neighbors, blas.Matrix, error) {
	if f.alpha == 0 {
		return nil, blas.Matrix{}, nil
	}
	k := kernel.Linear()
	if _, ok := f.X.(*points.Sequences); ok {
		k = f.kernel
	}
	near, err := graph.Nearest(ctx, f.Eng, k, f.X, f.Params.Neighbors)
	if err != nil {
		return nil, blas.Matrix{}, err
	}
	var gram lle.Gram
	if dense, ok := f.X.(*points.Dense); ok {
		gram = lle.OfVectors(f.Eng, dense, near.Index, near.K)
	} else {
		value, err := k.Values(ctx, f.Eng, f.X)
		if err != nil {
			return nil, blas.Matrix{}, err
		}
		gram = lle.OfKernel(value, near.Index, near.K)
	}
	w, err := lle.Weights(ctx, f.Eng, f.X.Len(), near.K, gram, f.Params.RegG)
	return near, w, err
}

// Kernel matrices with eigenvalues below this part of the largest are taken as singular: dividing
// by their square roots would make rounding as large as anything else.
const singular = 1e-11

// orthonormal turns kernel values with the basis points, n x m, into coordinates in the span of
// their images, along directions that are orthonormal there: with K = R R' it divides by R', and V
// = W R^-1. Where K is singular, by points that are there twice, R^-1 is made of its eigenvectors,
// and there are fewer coordinates. It destroys c, whose memory it uses. The coordinates, rather
// than the matrices made of them, are turned, since those lose half as many digits to the condition
// of K.
func (f *fit) orthonormal(ctx context.Context, c blas.Matrix) (blas.Matrix, error) {
	m, backend := c.Cols, f.Eng.Backend()
	r := c.Select(f.support)
	if err := f.Eng.Cholesky(ctx, r); err == nil && regular(r) {
		backend.Trsm(false, true, r, c)
		f.turn = func(w blas.Matrix) blas.Matrix {
			v := w.Clone()
			backend.Trsm(false, false, r, v)
			return v
		}
		return c, ctx.Err()
	}
	gram, w := c.Select(f.support), make([]float64, m)
	if err := f.Eng.SymEig(ctx, gram, w, true); err != nil {
		return c, err
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
		return c, err
	}
	f.turn = func(w blas.Matrix) blas.Matrix {
		v := blas.NewMatrix(w.Rows, m)
		backend.Gemm(false, false, 1, w, t, 0, v)
		return v
	}
	return f.multiplied(ctx, c, t)
}

// multiplied returns c T', in the memory of c: block by block, since T has fewer rows than columns.
func (f *fit) multiplied(ctx context.Context, c, t blas.Matrix) (blas.Matrix, error) {
	const rows = 1024
	out := blas.Matrix{Rows: c.Rows, Cols: t.Rows, Stride: t.Rows, Data: c.Data[:c.Rows*t.Rows]}
	part := f.Eng.GetMatrix(min(rows, c.Rows), t.Rows)
	defer f.Eng.PutMatrix(part)
	for lo := 0; lo < c.Rows; lo += rows {
		hi := min(lo+rows, c.Rows)
		some := part.View(0, hi-lo, 0, part.Cols)
		f.Eng.Backend().Gemm(false, true, 1, c.View(lo, hi, 0, c.Cols), t, 0, some)
		out.View(lo, hi, 0, out.Cols).CopyFrom(some)
		if err := ctx.Err(); err != nil {
			return out, err
		}
	}
	return out, nil
}

// regular says whether a Cholesky factor is that of a matrix far from singular.
func regular(r blas.Matrix) bool {
	least, most := math.Inf(1), 0.0
	for i := range r.Rows {
		least, most = min(least, r.At(i, i)), max(most, r.At(i, i))
	}
	return least*least > singular*most*most
}
