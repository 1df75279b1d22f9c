package blas

import "fmt"

// These are the messages of panics for programmer errors, shared by all backends.
const (
	errNegativeDimension = "blas: negative dimension"
	errViewRange         = "blas: view out of range"
	errShape             = "blas: shapes do not agree"
	errStride            = "blas: stride < max(1, cols)"
	errShortData         = "blas: data too short for shape and stride"
	errNotSquare         = "blas: matrix not square"
)

// NotPositiveDefiniteError reports that a Cholesky factorization found a pivot that is not
// positive: the leading minor of order Pivot+1 is not positive definite.
type NotPositiveDefiniteError struct {
	Pivot int // 0-based
}

func (e *NotPositiveDefiniteError) Error() string {
	return fmt.Sprintf("blas: matrix not positive definite at pivot %d", e.Pivot)
}

// SingularError reports a triangular matrix without an inverse: the diagonal element of
// this row is 0.
type SingularError struct {
	Index int // 0-based
}

func (e *SingularError) Error() string {
	return fmt.Sprintf("blas: triangular matrix is singular: element %d of its diagonal is 0", e.Index)
}

// NoConvergenceError reports that an eigenvalue iteration did not converge. On finite input this
// indicates a defect in the backend.
type NoConvergenceError struct {
	Routine string
	Count   int // off-diagonal elements that did not converge to zero, if known
}

func (e *NoConvergenceError) Error() string {
	return fmt.Sprintf("blas: %s did not converge (%d off-diagonals left)", e.Routine, e.Count)
}
