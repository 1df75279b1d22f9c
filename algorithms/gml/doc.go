// Package gml learns a kernel by LogDet projections whose prior is adapted to the data: geometry-aware metric
// learning (Lu, Jain & Dhillon, "Geometry-aware metric learning", ICML 2009).
//
// # Problem
//
// Over positive semidefinite K and the matrices M of a family that describes the shape of the data, minimise
//
//	D(K, M) + gamma D(diag xi, diag xi0),   D(K, M) = tr(K M^+) - log det(K M^+) - rank
//
// such that the squared distances of K are at most xi for must-links and at least xi for cannot-links, with
// xi0 the bounds upper and lower.
// The slack of a link counts with its weight.
//
// # Method
//
// K and M in turn. For a given M, K is that of package itml: cyclic projections (solvers/logdet). For a given K, M is
// the best one of its family:
//
//   - spectral (3): M = sum_i alpha_i v_i v_i', alpha falling, v_i the eigenvectors of the graph's Laplacian for the
//     smallest eigenvalues mu_i, from alpha_i = exp(-t mu_i) on. In the coordinates of M, K is A, r x r, and the best
//     alpha is the isotonic regression of alpha_i A_ii: a mean for every pooled block (solvers/isotonic).
//   - datadep (5): M = (S^-1 + V diag(theta) V')^-1, a kernel matrix S that these eigenvectors deform, 0 <= theta_1 <= theta_2
//     and so on. The best theta solves a convex problem of r unknowns, by projected gradients whose projections
//     are isotonic regressions.
//   - rbf (6): M = alpha (R + ridge I), R a Gaussian kernel matrix of the linked points. For a given width alpha
//     is tr(K R^-1) / m; the width minimises m log tr(K R^-1) + log det R, one dimension. The alternation moves
//     the width slowly, so what it is begun with counts.
//
// The objective falls with every round; it is not convex in both, so rounds are few by default.
//
// # New points
//
// For rbf and datadep exact: the learned kernel is k0(x, y) - k0(x, .)' B k0(., y), with M(x, y) = s(x, y) - s_x' T' s_y for k0
// in the second. For spectral a new point takes the place
// that its nearest training points give it, with the weights that reconstruct it from them. So new points are embedded out of
// sample, by Embed of the model, and the metric stays.
//
// # New links
//
// A model keeps its links and their multipliers. [Model.AddLinks] goes on with more of them, at the bounds of the first fit, to the
// nearest K for the prior M that was learned, which stays: a change of M would make a start from multipliers unsafe.
package gml
