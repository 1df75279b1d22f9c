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
// it, in the input space or, for sequences, in the feature space; in linear mode in the space of
// the coordinates. It returns nil if alpha is 0.
func (f *fit) reconstruction(ctx context.Context) (*graph.Neighbors, blas.Matrix, error) {
	if f.alpha == 0 {
		return nil, blas.Matrix{}, nil
	}
	x := f.X
	if f.Params.Mode == Linear {
		x = f.Dense
	}
	k, err := kernel.Linear().Around(ctx, f.Eng, x)
	if err != nil {
		return nil, blas.Matrix{}, err
	}
	if _, ok := x.(*points.Sequences); ok {
		k = f.kernel
	}
	near, err := graph.Nearest(ctx, f.Eng, k, x, f.Params.Neighbors)
	if err != nil {
		return nil, blas.Matrix{}, err
	}
	var gram lle.Gram
	if dense, ok := x.(*points.Dense); ok {
		gram = lle.OfVectors(f.Eng, dense, near.Index, near.K)
	} else {
		value, err := k.Values(ctx, f.Eng, x)
		if err != nil {
			return nil, blas.Matrix{}, err
		}
		gram = lle.OfKernel(value, near.Index, near.K)
	}
	w, err := lle.Weights(ctx, f.Eng, x.Len(), near.K, gram, f.Params.RegG)
	return near, w, err
}

// singular is the eigenvalue, relative to the largest, up to which a kernel matrix counts as
// singular. Division by the square roots of smaller eigenvalues would amplify rounding to the size
// of the coordinates.
const singular = 1e-11

// orthonormal transforms kernel values with the support points, n x m, to coordinates along
// orthonormal directions in the span of their images: with K = R R' it divides by R', and V = W
// R^-1. If K is singular, because of equal points, it computes R^-1 from the eigenvectors, and
// there are fewer coordinates. It overwrites c. It transforms the coordinates and not the matrices
// computed from them, since that loses half as many digits to the condition of K.
func (f *fit) orthonormal(ctx context.Context, c blas.Matrix) (blas.Matrix, error) {
	m, backend := c.Cols, f.Eng.Backend()
	noise := f.kernel.Noise(f.X)
	r := f.Eng.Clone(c.View(0, m, 0, m))
	if err := f.Eng.Cholesky(ctx, r); err == nil && regular(r, noise) {
		if err := f.divided(ctx, c, r); err != nil {
			return c, err
		}
		f.turn = func(w blas.Matrix) blas.Matrix {
			v := w.Clone()
			backend.Trsm(false, false, r, v)
			return v
		}
		return c, ctx.Err()
	}
	gram, w := f.Eng.Clone(c.View(0, m, 0, m)), make([]float64, m)
	if err := f.Eng.SymEig(ctx, gram, w, true); err != nil {
		return c, err
	}
	first := 0
	for first < m-1 && !(w[first] > max(singular*w[m-1], noise)) {
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

// divided overwrites c with c R'^-1. The rows of the support points become those of R.
func (f *fit) divided(ctx context.Context, c, r blas.Matrix) error {
	m := r.Rows
	for i := range m {
		clear(c.Row(i)[copy(c.Row(i), r.Row(i)[:i+1]):])
	}
	for lo := m; lo < c.Rows; lo += blockRows {
		f.Eng.Backend().Trsm(false, true, r, c.View(lo, min(lo+blockRows, c.Rows), 0, m))
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// blockRows is the number of rows that are transformed at a time.
const blockRows = 1024

// multiplied returns c T' in the memory of c, block by block. This works because T has fewer rows
// than columns.
func (f *fit) multiplied(ctx context.Context, c, t blas.Matrix) (blas.Matrix, error) {
	out := blas.MatrixOf(c.Rows, t.Rows, c.Data[:c.Rows*t.Rows])
	part := f.Eng.GetMatrix(min(blockRows, c.Rows), t.Rows)
	defer f.Eng.PutMatrix(part)
	for lo := 0; lo < c.Rows; lo += blockRows {
		hi := min(lo+blockRows, c.Rows)
		some := part.View(0, hi-lo, 0, part.Cols)
		f.Eng.Backend().Gemm(false, true, 1, c.View(lo, hi, 0, c.Cols), t, 0, some)
		out.View(lo, hi, 0, out.Cols).CopyFrom(some)
		if err := ctx.Err(); err != nil {
			return out, err
		}
	}
	return out, nil
}

// regular reports whether a Cholesky factor is that of a matrix far from singular.
func regular(r blas.Matrix, noise float64) bool {
	smallest, largest := math.Inf(1), 0.0
	for i := range r.Rows {
		smallest, largest = min(smallest, r.At(i, i)), max(largest, r.At(i, i))
	}
	return smallest*smallest > max(singular*largest*largest, noise)
}

// fewDimensions is the largest number of dimensions for which the rule of the paper takes the
// smaller alpha.
const fewDimensions = 5

// weight returns alpha: that of the parameters or the one of the rule of the paper.
func (f *fit) weight(ctx context.Context) (float64, error) {
	if f.Params.Alpha != AlphaByDimension {
		return f.Params.Alpha, nil
	}
	d, err := f.dimension(ctx)
	if d > fewDimensions {
		return 0.2, err
	}
	return 0.02, err
}

// dimension returns the number of features that vary. For a Gram matrix, which has no features, it
// is the dimension of the space that the objects span: that of the vectors, if the matrix holds
// their inner products. Both are counted up to fewDimensions+1. For sequences it is the number of
// letters. In linear mode it is the number of coordinates that vary.
func (f *fit) dimension(ctx context.Context) (int, error) {
	if f.Params.Mode == Linear {
		return varyingDense(f.Dense, fewDimensions+1), nil
	}
	switch x := f.X.(type) {
	case *points.Dense:
		return varyingDense(x, fewDimensions+1), nil
	case *points.CSR:
		return varyingSparse(x, fewDimensions+1), nil
	case *points.Gram:
		value, err := kernel.Linear().Values(ctx, f.Eng, x)
		if err != nil {
			return 0, err
		}
		return span(x.N, value, fewDimensions+1), nil
	}
	return f.X.Dim(), nil
}

// varyingDense returns the number of features with two different values, up to a limit. It rarely
// reads more than a few rows.
func varyingDense(x *points.Dense, limit int) int {
	count := 0
	for j := 0; j < x.D && count < limit; j++ {
		for i := 1; i < x.N; i++ {
			if x.Data[i*x.D+j] != x.Data[j] {
				count++
				break
			}
		}
	}
	return count
}

// varyingSparse is varyingDense for sparse points. It takes memory for the features that occur.
func varyingSparse(x *points.CSR, limit int) int {
	type feature struct {
		value  float64 // of the rows before
		rows   int     // in which it is not 0
		varies bool
	}
	features, count := map[int32]feature{}, 0
	for i := 0; i < x.N && count < limit; i++ {
		col, values := x.Row(i)
		for k, v := range values {
			if v == 0 {
				continue
			}
			f := features[col[k]]
			if !f.varies && (f.rows < i || i > 0 && v != f.value) {
				f.varies = true
				count++
			}
			f.value, f.rows = v, f.rows+1
			features[col[k]] = f
		}
	}
	for _, f := range features {
		if !f.varies && f.rows < x.N {
			count++ // it is 0 in the last rows
		}
	}
	return min(count, limit)
}

// span returns the dimension of the affine space of n objects with the given inner products, at
// most limit: the steps that a Cholesky decomposition with pivoting of the inner products of their
// differences from object 0 makes, before less than rounding of the entries remains.
func span(n int, value func(i, j int) float64, limit int) int {
	const rounding = 1e-10 // of entries with about 12 digits
	rest, largest := make([]float64, n), 0.0
	for i := range n {
		v := value(i, i)
		rest[i], largest = v-2*value(i, 0)+value(0, 0), max(largest, math.Abs(v))
	}
	var columns [][]float64
	for len(columns) < limit {
		p := 0
		for i, v := range rest {
			if v > rest[p] {
				p = i
			}
		}
		if !(rest[p] > rounding*largest) {
			break
		}
		column, root := make([]float64, n), math.Sqrt(rest[p])
		for i := range column {
			v := value(i, p) - value(i, 0) - value(0, p) + value(0, 0)
			for _, c := range columns {
				v -= c[i] * c[p]
			}
			column[i] = v / root
			rest[i] -= column[i] * column[i]
		}
		columns = append(columns, column)
	}
	return len(columns)
}
