// Package landmarks (engine room: may change) chooses a few points that stand for all of them in
// low-rank approximations of a kernel matrix.
//
// The rules: uniform draws; k-means++, which prefers what is far from the landmarks so far
// (Arthur & Vassilvitskii 2007), in the feature space of the kernel; farthest point, which always
// takes the farthest (Gonzalez 1985: within twice the best covering radius); and approximate
// ridge leverage scores (Alaoui & Mahoney 2015), which draw points by how much they add to the
// kernel matrix's range beyond the ridge.
package landmarks
