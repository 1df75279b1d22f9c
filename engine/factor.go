package engine

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/blas"
)

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
func (e *Engine) SymEigTop(ctx context.Context, a blas.Matrix, k int) (w []float64, v blas.Matrix, err error) {
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
	return e.Check(fmt.Sprintf("eigendecomposition of order %d", n), bytes, "use fewer points or landmarks, or raise the memory limit")
}
