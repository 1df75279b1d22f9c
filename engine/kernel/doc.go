// Package kernel (engine room: may change) evaluates kernel functions: single values, diagonals and
// whole kernel matrices, over dense, sparse and precomputed points.
//
// A kernel is a base inner product (dense, sparse, or read from a Gram matrix) followed by scalar
// maps f(<x,y>, <x,x>, <y,y>). A [Spec] is its parsed text, such as "rbf:sigma=1.5" or
// "rbf:sigma=mean@cosine"; a [Kernel] is a Spec whose parameters are all numbers. Package
// engine/bandwidth resolves bandwidth rules.
//
// # Kernels
//
//	linear                        <x,y>
//	rbf:sigma=S                   exp(-|x-y|^2 / (2 S^2))
//	rbf:gamma=G                   exp(-G |x-y|^2)
//	exp:width=W                   exp(-|x-y| / W)
//	poly:degree=2,coef=1,scale=1  (scale <x,y> + coef)^degree
//	cosine                        <x,y> / (|x| |y|), 0 when either is zero
//	sigmoid:scale=1,coef=0        tanh(scale <x,y> + coef); not positive semidefinite
//	spectrum:k=K                  for sequences; not available for vectors
//	OUTER@INNER                   OUTER applied in the feature space of INNER
//
// On a precomputed Gram matrix the base inner product is the matrix: "linear" is the matrix itself,
// and "rbf:sigma=1" exp(-(K_ii + K_jj - 2 K_ij)/2).
//
// # Accuracy
//
// Squared distances come from the expansion |x|^2 + |y|^2 - 2<x,y>, which a fast matrix product
// evaluates, and which suffers from cancellation if the points are far from the origin or close to
// each other. Dense data are therefore centered first, and pairs whose squared distance is below
// 1/1000 of |x|^2 + |y|^2 are computed again from the differences of the raw values. The relative
// error of |x-y|^2 is about 1e-13 sqrt(d). Equal rows have distance exactly 0 and an rbf value of
// exactly 1.
//
// Values of the linear kernel lose what rows far from the origin have in common: a constant
// feature, a date, an offset. [Kernel.Around] gives a kernel of <x-m, y-m> for such rows, m their
// mean: dense rows are centered before products; of sparse rows the features that all rows have,
// and the rest of m is a correction of rank one; a Gram matrix is centered, and [Kernel.Noise] has
// the floor of its spectrum.
//
// # Single precision
//
// Only [Kernel.GramSingle], [Kernel.CrossSingle] and [Kernel.MultiplySingle] compute with
// [points.Single], a separate type: linear, rbf and exp, with twice the lanes per vector and a
// relative error of about 1e-5 in squared distances.
//
// # Determinism
//
// Kernel matrices are bit-identical for any number of workers and for any backend: all backends
// share the vector kernels that evaluate them. Gram matrices are exactly symmetric. Row i of a
// cross matrix depends only on point i and on y.
//
// # Evaluation
//
// Points are packed once, and a matrix is computed in tiles: the register tile writes inner
// products to a tile in the second-level cache, the maps are applied to it there, and it is then
// written to memory, past the caches if the matrix is large. For a Gram matrix only the lower
// triangle is computed, and each tile is written twice, once transposed. [Kernel.GramBlocks],
// [Kernel.CrossRows] and [Kernel.MultiplyTo] use the tiles directly, without a matrix. Sparse
// points are evaluated in the same way unless lists of shared features are faster.
package kernel
