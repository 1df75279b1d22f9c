// Package graph (engine room: may change) computes graphs of nearest neighbors and their
// Laplacians.
//
// [Nearest] finds the k nearest other points of every point, exactly, among dense, sparse or
// precomputed points and in the feature space of any kernel. [Neighbors.Adjacency] makes an
// undirected graph of them, [Laplacian] returns its Laplacian, [Components] its connected
// components.
package graph
