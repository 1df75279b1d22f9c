// Package mmc (engine room: may change) learns a linear metric under which must-linked points are
// near and cannot-linked ones far from each other: Xing, Ng, Jordan & Russell, "Distance metric
// learning, with application to clustering with side-information" (NIPS 15, 2002), full and
// diagonal.
//
// Of all positive semidefinite A (diagonal ones) it is the one with the largest
//
//	sum over cannot-links of sqrt(d'A d)    where    sum over must-links of d'A d = 1
//
// for the differences d of linked points. A part eps of the must-links' mean scatter is added in all directions, without
// which those that no must-link varies in would cost nothing.
//
// # Method
//
// The first sum grows like the root of A, the second like A: with A = L L' the problem is to maximise
//
//	h(L) = log sum sqrt(|L'd|^2) - log(tr L'W L) / 2,    W = sum dd' + eps I
//
// without constraints, in coordinates in which W is the identity; L is square. The problem in A is concave, so
// for a square L no local maximum is another one (Burer & Monteiro 2005). Limited memory BFGS takes some dozens of
// evaluations where alternating projections on a half-space and on the cone take thousands of eigendecompositions. The
// gradient M of the first sum bounds how far the optimum is: at most lambda_max(M) - tr(M A) above (the largest element of
// M's diagonal), which ends the search. A diagonal A is found by Newton steps among the weights that are not 0, which are
// few.
package mmc
