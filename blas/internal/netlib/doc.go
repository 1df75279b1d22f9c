// Package netlib is the backend on OpenBLAS and LAPACKE, in builds with the tag netlib.
//
// BLAS goes through gonum/netlib. Factorizations and eigenvalues call LAPACKE's work
// routines directly, because gonum/netlib's binding folds LAPACK's info into a bool and
// transposes every row-major matrix: here a row-major lower triangle is handed over as the
// column-major upper triangle that it is, and eigenvectors come back as rows.
//
// # Threads
//
// OpenBLAS's thread count is one number for the process, and its bits depend on it. One
// gate for the process therefore lets small calls run side by side with one thread each,
// and a large call alone with the backend's threads. Which is which depends on the size
// of the problem only, so a call gives the same bits whatever else runs. Other code in
// the process that calls OpenBLAS or its openblas_set_num_threads directly defeats this.
package netlib
