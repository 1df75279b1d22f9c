// Package kernel (engine room: may change) evaluates kernel functions: single values, diagonals and
// whole kernel matrices, over dense, sparse and precomputed points.
//
// A kernel is a base inner product (dense, sparse, or read from a Gram matrix) followed by
// scalar maps f(<x,y>, <x,x>, <y,y>). A [Spec] is its parsed text, such as "rbf:sigma=1.5"
// or "rbf:sigma=mean@cosine"; a [Kernel] is a Spec without open questions. Bandwidth rules
// are resolved by package engine/bandwidth.
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
// On a precomputed Gram matrix the base inner product is the matrix: "linear" is the matrix
// itself, and "rbf:sigma=1" exp(-(K_ii + K_jj - 2 K_ij)/2).
//
// # Accuracy
//
// Squared distances come from the expansion |x|^2 + |y|^2 - 2<x,y>, which a fast matrix
// product evaluates and which cancels when the points are far from the origin or close to
// each other. Dense data are therefore centered first, and pairs whose squared distance is
// below 1/1000 of |x|^2 + |y|^2 are computed again from the differences of the raw values.
// The result has a relative error near 1e-13 sqrt(d) in |x-y|^2, equal rows have distance
// exactly 0, and their rbf value is exactly 1.
//
// # Single precision
//
// [points.Single] are a type of their own, and only [Kernel.GramSingle], [Kernel.CrossSingle]
// and [Kernel.MultiplySingle] compute with them: linear, rbf and exp, in vectors of twice the
// lanes, with a relative error of some 1e-5 in squared distances.
//
// # Determinism
//
// Kernel matrices have the same bits for any number of workers and for any backend: they are
// evaluated on the vector kernels that every backend carries. Gram matrices are symmetric to
// the bit. Row i of a cross matrix depends on point i and on y only.
//
// # Evaluation
//
// Points are packed once, and a matrix comes in tiles: the register tile writes inner products
// to a tile that stays in the second-level cache, the maps pass over it there, and it goes to
// memory, past the caches if the matrix is large. Of a Gram matrix the lower triangle is
// computed and each tile written twice, once transposed. What needs no matrix takes the tiles
// themselves: [Kernel.GramBlocks], [Kernel.CrossRows], [Kernel.MultiplyTo]. Sparse points go
// the same way unless lists of shared features are faster.
package kernel
