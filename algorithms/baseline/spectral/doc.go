// Package spectral (engine room: may change) makes kernels of a graph's Laplacian L with the
// eigenpairs (mu_i, v_i):
//
//	K = sum_i alpha_i v_i v_i'
//
// These are the baselines of package gml:
//
//   - diffusion: alpha_i = exp(-t mu_i) (Kondor & Lafferty, ICML 2002);
//   - regularized: alpha_i = 1 / (1 + t mu_i), the regularised Laplacian (Smola & Kondor, COLT 2003);
//   - eigenmaps: alpha_i = 1 without the constant eigenvectors (Belkin & Niyogi, Neural Computation 15, 2003);
//   - alignment: the alpha >= 0 whose kernel is best aligned with the links, maximal alignment restricted to
//     this family (Lanckriet, Cristianini, Bartlett, El Ghaoui & Jordan, JMLR 5, 2004);
//   - order: the same with alpha falling, but for constant eigenvectors (Zhu, Kandola, Ghahramani & Lafferty,
//     NIPS 2004).
//
// The alignment of K with targets T on the linked points, 1 for must-links and themselves and -1 for cannot-links,
// is the cosine of the angle between both. Over a cone, it is largest in the direction of the point of the cone
// that is nearest to T: a quadratic program in alpha >= 0, with falling alpha in the sums of its steps.
//
// The first three do not learn from links. New points take the places that reconstruct them from their nearest
// training points.
package spectral
