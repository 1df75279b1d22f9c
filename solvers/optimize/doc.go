// Package optimize (internal: may change) minimizes functions, a problem in a file: smooth
// functions by L-BFGS, quadratic functions in a box, semidefinite programs, sums of hinges, sparse
// inverse covariances, and monotone sequences.
package optimize
