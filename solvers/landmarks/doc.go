// Package landmarks (engine room: may change) chooses a few points that represent all points in
// low-rank approximations of a kernel matrix.
//
// The rules are uniform draws; k-means++, which prefers points far from the landmarks so far
// (Arthur & Vassilvitskii 2007), in the feature space of the kernel; farthest point, which always
// takes the farthest (Gonzalez 1985: within twice the best covering radius); and approximate ridge
// leverage scores (Alaoui & Mahoney 2015), which draw points by how much they add to the kernel
// matrix's range above the ridge.
package landmarks
