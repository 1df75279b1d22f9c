// Package rca (engine room: may change) learns a linear metric from must-links: relevant component
// analysis (Bar-Hillel, Hertz, Shental & Weinshall, "Learning a Mahalanobis metric from equivalence
// constraints", JMLR 2005).
//
// With S the covariance of all training points and C the covariance within chunklets
// (points minus the mean of their chunklet, divisor n = number of points in chunklets),
// the learned metric is that of
//
//	y = W (x - mean),   W = T (C + eps I)^-1/2 P,   eps = eps_rel * tr(C)/q
//
// P projects on the q principal directions of S above rank_tol times the largest, so that
// constant and collinear columns drop out instead of making C singular. Without a reduced
// dimension T is the identity; and where no direction can drop out P is left out too and the root is the inverse of the
// triangular factor of C + eps I, which gives the same distances and takes no eigenvalues. With one, the rows of T are the leading eigenvectors of the
// total covariance of the whitened points, which are the directions of largest total to
// within-chunklet variance: the constrained Fisher discriminant of the same paper, section
// 3. Directions in which no chunklet varies keep the finite weight 1/sqrt(eps).
//
// The kernel counterpart is package krca; with a linear kernel it learns the same
// inner product up to the dropped directions.
package rca
