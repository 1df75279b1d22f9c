// Package outofsample extends coordinates of training rows to new points, by one of three rules:
// barycentric coordinates of the nearest rows, the formula of Nystrom for eigenvectors of a graph,
// and kernel ridge regression.
package outofsample
