// Package cluster (engine room: may change) partitions points into K clusters: plain k-means,
// k-means under must-links and cannot-links, and kernel k-means on a Gram matrix, with or without
// must-links.
//
// All of them run Lloyd's iteration from several seeded starts and return the best result:
//
//   - [KMeans] minimizes the sum of squared distances of points to the centers of their
//     clusters, from k-means++ starts (Arthur & Vassilvitskii 2007).
//   - [Constrained] does so subject to links. Every must-link component moves as one block to
//     the center that minimizes its summed squared distance; cannot-links are kept as in
//     COP-KMeans (Wagstaff et al. 2001), but where its greedy pass fails a search takes over,
//     and the assignment is improved by exchanging chains of blocks between two clusters.
//   - [Kernel] is kernel k-means (Dhillon, Guan & Kulis 2004): k-means in the feature space, by
//     inner products only. [ConstrainedKernel] does so with must-link components as blocks.
//
// Data larger than memory are a sequence of blocks of rows. [KMeansStream] is k-means in several
// passes through them, bit-identical to [KMeans] from the same centers. [MiniBatch] (Sculley 2010)
// reads them once. The [Assigner] of their result assigns rows to centers, block by block.
//
// # Exactness and determinism
//
// Distances are first computed by matrix multiplication, |x|^2 + |c|^2 - 2x'c, with a bound of the
// rounding error. If the bound leaves a comparison undecided, and for every reported distance, the
// sum of squared differences decides. So the result does not depend on the rounding of the backend,
// on the number of workers or on the division of rows into blocks: equal parameters give
// bit-identical results. Equal rows have equal distances and go to the same cluster; a tie goes to
// the cluster with the lower number.
package cluster
