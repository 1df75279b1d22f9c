// Package nca (engine room: may change) learns a linear metric for nearest neighbors:
// neighborhood components analysis (Goldberger, Roweis, Hinton & Salakhutdinov, NIPS 17, 2005).
//
// Points of one must-link component are of one class; two classes are different where a cannot-link joins them, so labels
// become links by links.FromLabels. A point chooses another one, known to be of its class or of another, with probability
//
//	p_ij = exp(-|A(x_i - x_j)|^2) / sum_k exp(-|A(x_i - x_k)|^2)
//
// and A, the matrix of the map, maximises the mean probability of choosing one of its own class: what leave-one-out
// classification gets right, in expectation. The objective is not concave; it rises, by limited memory BFGS, from the map that
// whitens the classes (the directions in which they vary least, for fewer dimensions), so small that all points still see
// each other. From half of what it comes to it goes on once more: that leaves local maxima in which distances have grown so
// large that each point sees only its nearest.
//
// An evaluation takes 4 n^2 r flops and n^2 exponentials for n linked points in r dimensions, in products of blocks of
// rows: memory for some hundred rows of probabilities, not for n^2 differences.
package nca
