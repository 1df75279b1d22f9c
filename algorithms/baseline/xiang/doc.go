// Package xiang (engine room: may change) learns a linear metric by a trace ratio of the links
// alone (Xiang, Nie & Zhang, "Learning a Mahalanobis distance metric for data clustering and
// classification", Pattern Recognition 41, 2008): of all orthonormal W it is the one for which the
// squared distances of cannot-linked points are largest against those of must-linked ones.
package xiang
