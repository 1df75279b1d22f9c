// Package graph (engine room: may change) makes graphs of nearest neighbors, and their Laplacians.
//
// [Nearest] finds the k nearest other points of every point, exactly, among dense, sparse or
// precomputed points and in the feature space of any kernel. [Neighbors.Adjacency] joins them
// to an undirected graph, [Laplacian] makes its Laplacian, [Components] its connected parts.
package graph
