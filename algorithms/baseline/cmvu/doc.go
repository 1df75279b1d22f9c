// Package cmvu (engine room: may change) embeds points such that distances between neighbors are
// kept and points that belong together share directions of large variance: colored maximum variance
// unfolding (Song, Smola, Borgwardt & Gretton, NIPS 20, 2007), in its low-rank form (Weinberger,
// Sha, Zhu & Saul, NIPS 19, 2006). A baseline of gml.
//
// With V the r smoothest eigenvectors of the graph's Laplacian that are not constant, the kernel matrix is K = V A V', A
// positive semidefinite, and minimises
//
//	nu mean_e (d_e(K) - d_e)^2 - tr(K H L H) / sum(L)
//
// over the edges e of the graph, d squared distances in units of their mean. L is 1 for points of one must-link component
// and for a point with itself, 0 else: the second term is the mean squared distance of a component's mean from that of all
// points. Without links it is the variance, and the method maximum variance unfolding. Cannot-links are not used.
//
// # Method
//
// sum_e (v_i - v_j)(v_i - v_j)' = diag(mu), so that in coordinates U = V diag(mu)^-1/2 the quadratic term has a Hessian
// near the identity. Accelerated projected gradients (Beck & Teboulle 2009, with the restarts of O'Donoghue & Candes
// 2015) find A in a hundred steps or so; a step takes 4 r^2 flops an edge and an eigendecomposition of order r. The
// residual of the conditions of the optimum, G positive semidefinite and tr(G A) = 0 for the gradient G, ends the search.
//
// A new point takes the place that its nearest training points give it, with the weights that reconstruct it from them.
package cmvu
