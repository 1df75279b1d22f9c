//go:build netlib && cgo && !purego

package netlib

// #include <lapacke.h>
import "C"

import (
	"unsafe"

	"github.com/mustlink/mustlink/blas"
)

// A row-major lower triangle is the column-major upper triangle of the same memory.
const (
	upper  = C.char('U')
	layout = C.LAPACK_COL_MAJOR
)

func ptr(x []float64) *C.double {
	return (*C.double)(unsafe.Pointer(unsafe.SliceData(x)))
}

// dpotrf factors the lower triangle of a and returns LAPACK's info.
func dpotrf(a blas.Matrix) int {
	return int(C.LAPACKE_dpotrf_work(layout, upper, C.lapack_int(a.Rows), ptr(a.Data),
		C.lapack_int(a.Stride)))
}

// maxDivideOrder is the largest order whose workspace size, 2n^2 + 6n + 1, fits LAPACK's 32-bit
// length.
const maxDivideOrder = 32766

// dsyevd finds all eigenvalues by divide and conquer (vectors) or QR without square roots
// (values), and returns LAPACK's info. The rows of a become the eigenvectors.
func dsyevd(a blas.Matrix, w []float64, vectors bool) int {
	n := a.Rows
	job, lwork, liwork := C.char('N'), 2*n+1, 1
	if vectors {
		job, lwork, liwork = C.char('V'), 2*n*n+6*n+1, 5*n+3
	}
	work, iwork := make([]float64, lwork), make([]C.lapack_int, liwork)
	return int(C.LAPACKE_dsyevd_work(layout, job, upper, C.lapack_int(n), ptr(a.Data), C.lapack_int(a.Stride),
		ptr(w), ptr(work), C.lapack_int(lwork), &iwork[0], C.lapack_int(liwork)))
}

// dsyevr finds the eigenvalues from the first-th to the last of ascending order (0-based)
// and their vectors, as the rows of v; it returns LAPACK's info. w has length n.
func dsyevr(a blas.Matrix, first int, w []float64, v blas.Matrix) int {
	n := a.Rows
	rng := C.char('I')
	if first == 0 {
		rng = C.char('A')
	}
	const block = 64 // the optimal workspace is (block size + 6) n
	work, iwork := make([]float64, (block+6)*n+26), make([]C.lapack_int, 10*n)
	support := make([]C.lapack_int, 2*n)
	var found C.lapack_int
	return int(C.LAPACKE_dsyevr_work(layout, C.char('V'), rng, upper, C.lapack_int(n), ptr(a.Data),
		C.lapack_int(a.Stride),
		0, 0, C.lapack_int(first+1), C.lapack_int(n), 0, &found, ptr(w), ptr(v.Data), C.lapack_int(v.Stride),
		&support[0], ptr(work), C.lapack_int(len(work)), &iwork[0], C.lapack_int(len(iwork))))
}

// dtrtri inverts the lower triangle of l and returns LAPACK's info.
func dtrtri(l blas.Matrix) int {
	return int(C.LAPACKE_dtrtri_work(layout, upper, C.char('N'), C.lapack_int(l.Rows), ptr(l.Data),
		C.lapack_int(l.Stride)))
}

// qrBlock elements of workspace for each column are the best for dgelqf and dorglq, whose
// blocks are of this size.
const qrBlock = 64

// dgelqf decomposes a, which LAPACK sees as its transpose: A' = L Q'. It leaves L in the upper
// triangle of a, and returns LAPACK's info. work has at least a.Cols elements.
func dgelqf(a blas.Matrix, tau, work []float64) int {
	return int(C.LAPACKE_dgelqf_work(layout, C.lapack_int(a.Cols), C.lapack_int(a.Rows), ptr(a.Data),
		C.lapack_int(a.Stride),
		ptr(tau), ptr(work), C.lapack_int(len(work))))
}

// dorglq overwrites the output of dgelqf with Q, and returns LAPACK's info.
func dorglq(a blas.Matrix, tau, work []float64) int {
	return int(C.LAPACKE_dorglq_work(layout, C.lapack_int(a.Cols), C.lapack_int(a.Rows), C.lapack_int(a.Cols),
		ptr(a.Data), C.lapack_int(a.Stride),
		ptr(tau), ptr(work), C.lapack_int(len(work))))
}
