// Package blas (internal: may change) defines the dense linear algebra of mustlink as one
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

import (
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/asm"
)

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

// CoreVariable is the environment variable that chooses the kernels of OpenBLAS, before a program
// starts.
const CoreVariable = "OPENBLAS_CORETYPE"

// Core returns the core whose kernels OpenBLAS runs, "" for a backend without OpenBLAS.
func Core(b Backend) string {
	if c, ok := b.(interface{ Core() string }); ok {
		return c.Core()
	}
	return ""
}

// BetterCore returns the value of [CoreVariable] that makes OpenBLAS use the vectors of a processor
// whose best kernels are of that level, "" if the core that OpenBLAS chose does so already, and for
// the core "". OpenBLAS chooses an old core on processors that are newer than itself.
func BetterCore(core string, best asm.Level) string {
	wide := []string{"SkylakeX", "Cooperlake", "SapphireRapids"}
	middle := []string{"Haswell", "Zen", "Excavator"}
	switch {
	case core == "":
	case best == asm.AVX512 && !slices.Contains(wide, core):
		return wide[0]
	case best == asm.AVX2 && !slices.Contains(slices.Concat(wide, middle), core):
		return middle[0]
	}
	return ""
}

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

// Every backend checks dimensions, strides and lengths, in this order, before it works. The checks
// panic with the constants of errors.go.

// CheckMatrix panics unless m satisfies the invariants of [Matrix].
func CheckMatrix(m Matrix) {
	if m.Rows < 0 || m.Cols < 0 {
		panic(errNegativeDimension)
	}
	if m.Stride < max(1, m.Cols) {
		panic(errStride)
	}
	if m.Rows > 0 && m.Cols > 0 && len(m.Data) < (m.Rows-1)*m.Stride+m.Cols {
		panic(errShortData)
	}
}

// CheckSquare panics unless m is a valid square matrix, and returns its order.
func CheckSquare(m Matrix) int {
	CheckMatrix(m)
	if m.Rows != m.Cols {
		panic(errNotSquare)
	}
	return m.Rows
}

// CheckGemm panics unless the shapes of [Backend.Gemm] agree, and returns m, n and k.
func CheckGemm(transA, transB bool, a, b, c Matrix) (m, n, k int) {
	CheckMatrix(a)
	CheckMatrix(b)
	CheckMatrix(c)
	m, k = opShape(transA, a)
	kb, n := opShape(transB, b)
	if kb != k || c.Rows != m || c.Cols != n {
		panic(errShape)
	}
	return m, n, k
}

// CheckSyrk panics unless the shapes of [Backend.Syrk] agree, and returns n and k.
func CheckSyrk(trans bool, a, c Matrix) (n, k int) {
	CheckMatrix(a)
	n, k = opShape(trans, a)
	if CheckSquare(c) != n {
		panic(errShape)
	}
	return n, k
}

// CheckSymm panics unless the shapes of [Backend.Symm] agree, and returns those of C.
func CheckSymm(left bool, a, b, c Matrix) (m, n int) {
	order := CheckSquare(a)
	CheckMatrix(b)
	CheckMatrix(c)
	if rows, _ := opShape(!left, b); rows != order || c.Rows != b.Rows || c.Cols != b.Cols {
		panic(errShape)
	}
	return c.Rows, c.Cols
}

// CheckGemv panics unless the shapes of [Backend.Gemv] agree.
func CheckGemv(trans bool, a Matrix, x, y []float64) {
	CheckMatrix(a)
	m, n := opShape(trans, a)
	if len(x) != n || len(y) != m {
		panic(errShape)
	}
}

// CheckSymv panics unless the shapes of [Backend.Symv] agree, and returns the order.
func CheckSymv(a Matrix, x, y []float64) int {
	n := CheckSquare(a)
	CheckLength(len(x), n)
	CheckLength(len(y), n)
	return n
}

// CheckSyr panics unless the shapes of [Backend.Syr] agree, and returns the order.
func CheckSyr(x []float64, a Matrix) int {
	n := CheckSquare(a)
	CheckLength(len(x), n)
	return n
}

// CheckSymEig panics unless the shapes of [Backend.SymEig] agree, and returns the order.
func CheckSymEig(a Matrix, w []float64) int {
	n := CheckSquare(a)
	CheckLength(len(w), n)
	return n
}

// CheckSymEigTop panics unless the shapes of [Backend.SymEigTop] agree, and returns the
// order and the number of eigenvalues.
func CheckSymEigTop(a Matrix, w []float64, v Matrix) (n, k int) {
	n = CheckSquare(a)
	CheckMatrix(v)
	if len(w) > n || v.Rows != len(w) || v.Cols != n {
		panic(errShape)
	}
	return n, len(w)
}

// CheckTrsm panics unless the shapes of [Backend.Trsm] or [Backend.Trmm] agree, and returns
// L's order and the number of right-hand sides.
func CheckTrsm(left bool, l, b Matrix) (n, m int) {
	n = CheckSquare(l)
	CheckMatrix(b)
	order, m := opShape(!left, b)
	if order != n {
		panic(errShape)
	}
	return n, m
}

// CheckQR panics unless the shapes of [Backend.QR] agree, and returns those of A.
func CheckQR(a, l Matrix) (m, n int) {
	CheckMatrix(a)
	n = CheckSquare(l)
	if a.Cols != n || a.Rows < n {
		panic(errShape)
	}
	return a.Rows, n
}

// CheckLength panics unless got == want.
func CheckLength(got, want int) {
	if got != want {
		panic(errShape)
	}
}

// opShape returns the shape of m, transposed when trans is set.
func opShape(trans bool, m Matrix) (rows, cols int) {
	if trans {
		return m.Cols, m.Rows
	}
	return m.Rows, m.Cols
}
