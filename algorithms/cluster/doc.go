// Package cluster (engine room: may change) partitions points into K clusters: plain k-means,
// k-means under must-links and cannot-links, and kernel k-means on a Gram matrix, with or without
// must-links.
//
// All of them run Lloyd's iteration from several seeded starts and keep the best:
//
//   - [KMeans] minimizes the sum of squared distances of points to the centers of their
//     clusters, from k-means++ starts (Arthur & Vassilvitskii 2007).
//   - [Constrained] does so subject to links. Every must-link component moves as one block to
//     the center that minimizes its summed squared distance; cannot-links are kept as in
//     COP-KMeans (Wagstaff et al. 2001), but where its greedy pass fails a search takes over,
//     and the assignment is improved by exchanging chains of blocks between two clusters.
//   - [Kernel] is kernel k-means (Dhillon, Guan & Kulis 2004): k-means in the feature space,
//     known by inner products only. [ConstrainedKernel] does so with must-link components as
//     blocks.
//
// Rows that memory does not hold come as a sequence of blocks: [KMeansStream] is k-means in several
// passes over them, with the bits of [KMeans] from the same centers; [MiniBatch] (Sculley 2010)
// goes through them once. The [Assigner] of their result gives rows to the centers, block by block.
//
// # Exactness and determinism
//
// Distances are prefiltered by matrix multiplication, |x|^2 + |c|^2 - 2x'c, whose rounding
// error is bounded; wherever the bound leaves a doubt, and for every distance that is
// reported, the sum of squared differences itself decides. So the result does not depend on
// the backend's rounding, on the number of workers or on how rows fall into blocks: equal
// parameters give equal bits. Rows that are equal to the bit have equal distances and go to
// the same cluster; a tie goes to the cluster of lower number.
package cluster
