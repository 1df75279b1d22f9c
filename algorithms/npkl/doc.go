// Package npkl learns a kernel matrix without a formula: non-parametric kernel learning by block
// coordinate descent (Hu, Wang & Chen, "BCDNPKL: scalable non-parametric kernel learning using block
// coordinate descent", ICML 2011).
//
// # Problem
//
// S holds the similarities of a graph of all n points, N = D^-1/2 S D^-1/2 with the degrees D, and
// Delta = (1 + delta) I - N. Of all positive semidefinite Z it is the one that minimises
//
//	tr(Delta Z) + C sum_ij l(t_ij Z_ij)
//
// over the links (i, j), each once, t = 1 for must-links and -1 for cannot-links, and one of the
// losses l(f): (1-f)^2 (sl), max(0, 1-f)^2 (shl), 2 max(0, 1-f) (hl). A cannot-link asks for an inner
// product of at most -1: for opposite sides, not for a large distance.
//
// # Method
//
// Z = V V' with V of n rows and r columns, few: at an optimum r(r+1)/2 is at most the number of links,
// and mostly r is about the number of classes less one. A sweep goes through the rows; each is moved to
// the minimiser over it alone: for points without links the weighted mean of their neighbours, else a
// system of r equations (sl), a few of them (shl), or a small quadratic program in a box (hl). So every
// sweep costs as much as a product with the graph, and the objective falls in every step.
//
// On a graph of few edges the points are coloured: those of a colour have no edge or link among each other,
// and their rows are updated on all workers at once. Where all pairs have edges, the rows are taken in
// panels: a product of a panel with V, corrected after every row within it. Points without links can be
// eliminated first (the boundary form of the paper); [Plan] says whether, and by default the cheaper way
// is taken, for full graphs by a Cholesky factor, for sparse ones by conjugate gradients.
//
// Sweeps converge linearly, slowly where the optimum is flat; the latest ones are extrapolated
// (Anderson), and a sweep from there counts if the objective has fallen, which takes a fifth of the sweeps.
//
// sl and shl are smooth: if G = Delta - C sum h_ij t_ij (E_ij + E_ji), h = -l'(t Z)/2, has no negative
// eigenvalue then Z is the optimum among all matrices, of any rank. The sweeps begin with more columns than
// the optimum has mostly, as too few lead from saddle to saddle; superfluous ones die away and are dropped.
// If G has a negative eigenvalue, V grows by its eigenvector until there is none. For hl, whose objective has kinks where single rows get stuck,
// there is no such certificate; it starts from the optimum of shl, which keeps it from the worst of them
// (package baseline/npk knows the gap).
//
// # New points
//
// The paper has none. A new point x is joined to the graph by its neighbours among the training points
// and takes the place that minimises the energy: sum_j s_xj / sqrt(d_x d_j) v_j / (1 + delta). A point
// that equals a training point to the bit has its place. A graph of given similarities does not say what is
// near a new point, so its model has places for the training points only.
//
// # Clusters
//
// k-means on the places is kernel k-means with Z, and needs no matrix of all pairs.
//
// # New links, many values of C
//
// A model keeps its links. [Model.AddLinks] fits it with more of them, starting from its places. A [Path] starts the fit of every C from
// the places of the next larger one. New points need nothing: they get their places as above, out of sample, and the kernel matrix of
// the training points stays.
package npkl
