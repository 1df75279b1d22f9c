package engine

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/internal/hugepages"
)

// clearBlock is the number of values that a task clears: many times the cost of waking a worker.
const clearBlock = 1 << 18

// NewMatrix returns a rows x cols matrix of zeros, compact. On Linux a matrix of 4 MiB and more
// asks for huge pages, which makes its first touch several times faster, and all workers clear it.
// It does not check the memory limit; see [Engine.Check]. For a matrix that the caller fills,
// [Engine.UnclearedMatrix] takes less time.
func (e *Engine) NewMatrix(rows, cols int) blas.Matrix {
	m := e.UnclearedMatrix(rows, cols)
	if len(m.Data) >= hugepages.Large {
		// Without a cancel it cannot fail.
		_ = e.For(context.Background(), len(m.Data), clearBlock, func(lo, hi int) error {
			clear(m.Data[lo:hi])
			return nil
		})
	}
	return m
}

// UnclearedMatrix is [Engine.NewMatrix] with undefined contents: every element must be written
// before it is read.
func (e *Engine) UnclearedMatrix(rows, cols int) blas.Matrix {
	if rows*cols < hugepages.Large {
		return blas.NewMatrix(rows, cols)
	}
	return blas.MatrixOf(rows, cols, hugepages.Floats(rows*cols))
}

// Clone returns a compact copy of m, which all workers make. It does not check the memory limit.
func (e *Engine) Clone(m blas.Matrix) blas.Matrix {
	out := e.UnclearedMatrix(m.Rows, m.Cols)
	e.Copy(out, m)
	return out
}

// Copy copies src, which must have the same shape, into dst, on all workers.
func (e *Engine) Copy(dst, src blas.Matrix) {
	if dst.Rows != src.Rows || dst.Cols != src.Cols {
		panic("engine: Copy: shapes differ")
	}
	block := max(1, clearBlock/max(1, src.Cols))
	_ = e.For(context.Background(), src.Rows, block, func(lo, hi int) error { // see NewMatrix
		dst.View(lo, hi, 0, dst.Cols).CopyFrom(src.View(lo, hi, 0, src.Cols))
		return nil
	})
}

// mirrorRows is the number of rows or columns that a task of Mirror or Transposed copies.
const mirrorRows = 64

// Transposed returns the transpose of m, compact. It does not check the memory limit.
func (e *Engine) Transposed(m blas.Matrix) blas.Matrix {
	out := e.UnclearedMatrix(m.Cols, m.Rows)
	_ = e.For(context.Background(), m.Cols, mirrorRows, func(lo, hi int) error { // see NewMatrix
		m.View(0, m.Rows, lo, hi).TransposeTo(out.View(lo, hi, 0, m.Rows))
		return nil
	})
	return out
}

// Mirror copies the lower triangle of a square m to the upper one, on all workers.
func (e *Engine) Mirror(m blas.Matrix) {
	// The last rows are the longest, so they come first. Without a cancel it cannot fail.
	_ = e.For(context.Background(), m.Rows, mirrorRows, func(lo, hi int) error {
		m.MirrorRows(m.Rows-hi, m.Rows-lo)
		return nil
	})
}

// Cholesky calls the backend's Cholesky unless ctx is done. A cancel during the factorization takes
// effect after it. Cost: n^3/3 flops. A matrix that is not positive definite is a
// *blas.NotPositiveDefiniteError.
func (e *Engine) Cholesky(ctx context.Context, a blas.Matrix) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := e.backend.Cholesky(a); err != nil {
		return err
	}
	return ctx.Err()
}

// SymEig calls the backend's SymEig after two checks: ctx is not done, and the workspace of the
// divide and conquer method (2n^2 values with vectors) is within the memory limit. A cancel during
// the decomposition takes effect after it.
func (e *Engine) SymEig(ctx context.Context, a blas.Matrix, w []float64, vectors bool) error {
	order := 0
	if vectors {
		order = a.Rows
	}
	if err := e.checkEigen(ctx, order); err != nil {
		return err
	}
	if err := e.backend.SymEig(a, w, vectors); err != nil {
		return err
	}
	return ctx.Err()
}

// SymEigTop returns the k largest eigenvalues of A, in descending order, and their unit
// eigenvectors as rows; all for k = 0 and above the order. It is the backend's SymEigTop after the
// checks of [Engine.SymEig], and the contents of A are lost. Errors: a *fault.MemoryError,
// ctx.Err(), and the backend's own.
func (e *Engine) SymEigTop(ctx context.Context, a blas.Matrix,
	k int) (w []float64, v blas.Matrix, err error) {
	if err := e.checkEigen(ctx, a.Rows); err != nil {
		return nil, v, err
	}
	if k == 0 || k > a.Rows {
		k = a.Rows
	}
	w, v = make([]float64, k), e.UnclearedMatrix(k, a.Rows)
	if err := e.backend.SymEigTop(a, w, v); err != nil {
		return nil, blas.Matrix{}, err
	}
	return w, v, ctx.Err()
}

// checkEigen checks ctx and the memory of an eigendecomposition with vectors of order n.
func (e *Engine) checkEigen(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	bytes := MatrixBytes(n, n)
	if bytes < addressable { // otherwise Check refuses it anyway, and doubling would overflow
		bytes *= 2
	}
	return e.Check(fmt.Sprintf("eigendecomposition of order %d", n), bytes,
		"use fewer points or landmarks, or raise the memory limit")
}
