// Package itml learns a metric from distances that must be small or large: information-theoretic metric
// learning (Davis, Kulis, Jain, Sra & Dhillon, "Information-theoretic metric learning", ICML 2007), with the
// step that is exact for every gamma. It is the base of package gml and a baseline of others.
//
// Of all positive definite A it is the one nearest to a prior, in the LogDet divergence, for which
// must-linked points are at most the squared distance upper apart and cannot-linked ones at least lower; both
// bounds may give way, at a price that gamma sets, times the link's weight. Without other orders upper and lower are percentiles of the
// squared distances of pairs of points under the prior.
//
// Linear mode: A is a matrix over the features, the prior the identity or the inverse covariance, in the
// directions in which the points vary. Kernel mode: the kernel matrix of the linked points is learned, K, from
// K0; with the signed multipliers P of the constraints, B = P - P K P, the learned kernel of any two points is
//
//	k(x, y) = k0(x, y) - k0(x, .)' B k0(., y)
//
// A model embeds points in the directions of the learned kernel matrix of the training points (up to 2000 of
// them, the linked ones included).
//
// # New links, new points
//
// A model keeps its links and their multipliers. [Model.AddLinks] goes on with more of them, at the bounds of the first fit, to the
// optimum of all. New points need nothing: Embed of the model places them out of sample, and the metric stays.
package itml
