// Package blas (engine room: may change) defines the dense linear algebra of mustlink as one
// interface, [Backend], at the level of operations (multiply, factor, decompose).
//
// Implementations: blas/gonum (the pure-Go reference), blas/internal/native (the default, on the
// kernels of package asm), blas/internal/netlib (OpenBLAS and LAPACKE, build tag netlib). Package
// blas/backends opens one by name; every backend passes the conformance suite
// blas/internal/blastest.
//
// Conventions. Matrices are row-major views. Symmetric matrices are stored in their lower triangle;
// the strict upper triangle is neither read nor written unless stated otherwise. Outputs must not
// overlap inputs. Shapes that do not agree are programmer errors and panic with a constant message;
// dimensions of zero are legal and do nothing (beyond scaling by beta). beta == 0 overwrites: the
// output is not read, so it may contain NaN. alpha == 0 leaves the factors unread. NaN and Inf in
// the inputs propagate, or give an error from a factorization, never an endless loop: in Gemm,
// Syrk, Symm, Gemv and Symv, 0*NaN and 0*Inf are NaN; in Syr, Trsm and Trmm a backend may skip a
// product whose other factor is 0. Trsm and Trmm do not use the zeros on the other side of the
// triangle, except that netlib may.
package blas

import "github.com/mustlink/mustlink/asm"

// Backend is dense linear algebra. A Backend is immutable and safe for concurrent use.
//
// Determinism: the same call is bit-identical for any number of workers and whatever else runs. For
// native and gonum, the bits of a row of C in Gemm also do not depend on the number of other rows
// in the call.
type Backend interface {
	// Name returns "gonum", "native" or "netlib".
	Name() string
	// Describe returns one line for users: library, version, core, threads.
	Describe() string
	// Kernels returns the vector kernels, for work other than the operations below, such as kernel
	// matrices.
	Kernels() *asm.Table

	// Gemm computes C = alpha op(A) op(B) + beta C, where op transposes when the flag is
	// set. op(A) is m x k, op(B) k x n, C m x n. 2mnk flops.
	Gemm(transA, transB bool, alpha float64, a, b Matrix, beta float64, c Matrix)
	// Syrk computes the lower triangle of C = alpha A A' + beta C, A n x k (trans false),
	// or alpha A'A + beta C, A k x n (trans true). n(n+1)k flops.
	Syrk(trans bool, alpha float64, a Matrix, beta float64, c Matrix)
	// Symm computes C = alpha A B + beta C (left), or alpha B A + beta C, with A symmetric,
	// lower triangle. C and B are m x n. 2m^2 n flops (left), or 2mn^2.
	Symm(left bool, alpha float64, a, b Matrix, beta float64, c Matrix)
	// Syr adds alpha x x' to the lower triangle of the n x n matrix A. n(n+1) flops.
	Syr(alpha float64, x []float64, a Matrix)
	// Gemv computes y = alpha op(A) x + beta y. 2mn flops.
	Gemv(trans bool, alpha float64, a Matrix, x []float64, beta float64, y []float64)
	// Symv computes y = alpha A x + beta y with A symmetric, lower triangle. 2n^2 flops.
	Symv(alpha float64, a Matrix, x []float64, beta float64, y []float64)
	// Trsm solves with the lower triangular, non-unit L of order n, overwriting B:
	//	left, !trans:  B = L^-1 B     left, trans:  B = L'^-1 B     (B n x m)
	//	right, !trans: B = B L^-1     right, trans: B = B L'^-1     (B m x n)
	// n^2 m flops. A zero on the diagonal gives Inf or NaN, as in BLAS.
	Trsm(left, trans bool, l, b Matrix)
	// Trmm multiplies by the lower triangular L of order n, overwriting B:
	//	left, !trans:  B = L B     left, trans:  B = L'B     (B n x m)
	//	right, !trans: B = B L     right, trans: B = B L'    (B m x n)
	// n^2 m flops.
	Trmm(left, trans bool, l, b Matrix)
	// TriangularInverse overwrites the lower triangle L of order n with its inverse. n^3/3 flops. A
	// zero on the diagonal gives *SingularError and leaves L unchanged.
	TriangularInverse(l Matrix) error

	// Cholesky overwrites the lower triangle of A, symmetric positive definite of order
	// n, with L such that A = L L'. n^3/3 flops. A pivot that is not positive (or NaN)
	// gives *NotPositiveDefiniteError with its index, and leaves the triangle undefined.
	Cholesky(a Matrix) error
	// QR decomposes A, m x n with m >= n, into A = Q L', where the columns of Q, m x n, are
	// orthonormal and L is lower triangular with a diagonal that is not negative: L' is usually
	// called R. A is overwritten with Q, and the lower triangle of l, n x n, with L. Householder
	// reflections make Q orthonormal to working accuracy for any rank of A. NaN or Inf in A give
	// NaN. 4mn^2 - 4n^3/3 flops.
	QR(a, l Matrix)
	// SymEig overwrites A, symmetric of order n, lower triangle, and fills w (length n) with its
	// eigenvalues in ascending order. With vectors, row i of A becomes the unit eigenvector of
	// w[i]; without, the contents of A are lost. NaN or Inf in the triangle give
	// *NoConvergenceError. O(n^3), about 9n^3 flops with vectors by QR iteration.
	SymEig(a Matrix, w []float64, vectors bool) error
	// SymEigTop computes the k = len(w) largest eigenvalues of A, in descending order, and their
	// unit eigenvectors as the rows of v (k x n). 0 <= k <= n. The contents of A are lost.
	SymEigTop(a Matrix, w []float64, v Matrix) error
}

// Advice returns what would make a backend faster on this machine, in a sentence for users, "" for
// nothing.
func Advice(b Backend) string {
	if a, ok := b.(interface{ Advice() string }); ok {
		return a.Advice()
	}
	return ""
}
