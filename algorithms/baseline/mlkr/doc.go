// Package mlkr (engine room: may change) learns a linear metric for regression: metric learning for
// kernel regression (Weinberger & Tesauro, AISTATS 2007). It learns from targets y_i, a number for
// each row ([Learner.WithTargets]), and not from links. Kernel regression estimates the target of a
// row from those of all others,
//
//	ŷ_i = sum_{j != i} k_ij y_j / sum_{j != i} k_ij,  k_ij = exp(-|A(x_i - x_j)|^2)
//
// and A, the matrix of the map, minimizes the squared error sum_i (y_i - ŷ_i)^2. The objective of a model is the share of the
// variance that the estimates explain, 1 - sum_i (y_i - ŷ_i)^2 / sum_i (y_i - mean)^2, which does not depend on units. It is
// not concave. It rises by limited memory BFGS from each of some maps: the principal coordinates, the same whitened, and these
// with the linear estimate of the targets added to the first, each in the scale that explains most. The best result counts.
// Package algorithms/internal/softmax says what an evaluation costs.
package mlkr
