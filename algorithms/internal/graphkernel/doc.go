// Package graphkernel holds what methods share that learn a kernel matrix on a graph: the graph, the
// energy of a kernel matrix with the losses of its links, and the places of training and of new points.
package graphkernel
