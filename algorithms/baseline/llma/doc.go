// Package llma (engine room: may change) learns a metric that is linear near every point and not
// linear at large: locally linear metric adaptation, the spectral method (after Chang & Yeung,
// "Locally linear metric adaptation for semi-supervised clustering", ICML 2004, and "... with
// application to semi-supervised clustering and image retrieval", Pattern Recognition 39, 2006). A
// baseline.
//
// A point goes to
//
//	y(x) = B x + sum_a exp(-|x - a|^2 / (2 sigma^2)) b_a
//
// a linear map that Gaussian windows around linked points a, the anchors, bend. Of all such maps with uncorrelated directions
// of variance 1 (and a ridge) it is the one in which must-linked points are nearest to each other, and points near the
// places that their neighbours' weights give them:
//
//	mean over must-links of |y_i - y_j|^2 + lambda mean over points of |y_i - sum_j w_ij y_j|^2
//
// with the weights w that reconstruct x_i from its nearest neighbours. That is a generalised eigenproblem of as many unknowns
// as there are directions and anchors. Cannot-links are not used.
package llma
