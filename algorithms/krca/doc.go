// Package krca learns a kernel from must-links: kernel relevant component analysis
// (Tsang, Cheung & Kwok, "Kernel relevant component analysis for distance metric
// learning", IJCNN 2005).
//
// # The learned kernel
//
// The n points in chunklets (connected components of the must-links) have, in the feature
// space of the kernel k, the within-chunklet covariance C = (1/n) Phi H Phi', where H
// subtracts the mean of each chunklet. The learned kernel whitens what varies inside
// chunklets and leaves the rest alone:
//
//	kt(x,y) = phi(x)' (eps I + C)^-1 phi(y)
//
// With F, the block-diagonal Helmert basis of the range of H (n x r, r = n - #chunklets),
// and s = n eps it is
//
//	kt(x,y) = (k(x,y) - k_x' F R^-1 F' k_y) / eps,    R = sI + F'KF            (1b)
//
// a Cholesky factorisation of order r, where k_x holds the kernel between x and the points
// in chunklets. F is never formed: running sums over the chunklets apply it.
//
// # Two forms
//
// The two terms of (1b) cancel when the within-chunklet directions span the feature space
// and eps is small, as a linear or polynomial kernel makes likely. With F'KF = U S U',
// keeping s_r > 1e-12 s_1, c_r(x) = u_r' F' k_x / sqrt(s_r) and the residual
// rho(x,y) = k(x,y) - sum_r c_r(x) c_r(y), set to 0 where |rho| <= 1e-10 sqrt(k(x,x) k(y,y)),
//
//	kt(x,y) = rho(x,y)/eps + sum_r n/(n eps + s_r) c_r(x) c_r(y)               (1c)
//
// does not cancel, but it divides by s_r, which rounding blurs by u s_1. FormAuto, the
// default, takes the form that loses less; it takes (1c) when all of these hold:
//
//   - (1b) loses more than one digit: max k(z,z) > 16 max eps kt(z,z), the maxima over up to
//     64 evenly spaced points of the chunklets. This is the test that is tried first,
//     because it costs only 64 r^2 flops and nearly always settles the matter.
//   - F'KF is numerically singular: a Cholesky decomposition with pivoting finds a rank
//     below r, or an eigenvalue at most 1e-12 times the largest.
//   - (1b) loses more than (1c): the ratio of the first test exceeds that of the largest to
//     the smallest s_r that is kept.
//
// It takes (1c) also when rounding leaves R without a Cholesky factor, which happens for s
// near the rounding errors of F'KF. Singularity alone is no reason: repeated rows make
// F'KF of a Gaussian kernel singular without any cancellation. The decomposition behind
// (1c) is the pivoted one, P B B' P', of rank q, and the eigenvectors of the q x q matrix
// B'B: O(r q^2) where an eigendecomposition of F'KF would cost O(r^3).
//
// # Embedding
//
// Embed of a [Model] is kernel PCA of kt on the training points (or, beyond 5000, on a seeded
// sample of them); [Model.Gram] and [Model.Distances] are exact for any points.
//
// # Updates
//
// [Model.Incremental] gives the learned kernel of a model to teach more chunklets, at fixed
// s, by bordering the factor of (1b); see [Incremental]. [Model.Update] and
// [Model.DropLast] are single updates with a new embedding.
package krca
