// Package netlib is the backend on OpenBLAS and LAPACKE, in builds with the tag netlib.
//
// BLAS is called through gonum/netlib. Factorizations and eigenvalues call LAPACKE's work routines
// directly, because gonum/netlib's binding reduces LAPACK's info to a bool and transposes every
// row-major matrix. Here a row-major lower triangle is passed as the column-major upper triangle
// that it is, and eigenvectors are returned as rows.
//
// # Threads
//
// OpenBLAS's thread count is one number for the process, and its bits depend on it. A gate for the
// whole process therefore lets small calls run concurrently with one thread each, and a large call
// alone with the backend's threads. The size of the problem alone decides which calls are large, so
// a call gives the same bits whatever else runs. Other code in the process that calls OpenBLAS or
// its openblas_set_num_threads directly breaks this.
package netlib
