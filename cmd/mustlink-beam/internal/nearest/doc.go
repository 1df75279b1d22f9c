// Package nearest computes the graph of the k nearest neighbors of rows in many files.
//
// The exact method compares the rows of each element with those of all elements, which its worker
// reads one after another. Nothing is shuffled, and all rows are read once for every element. The
// result is bit-identical to that of graph.Nearest on all rows.
//
// The approximate method uses landmarks: a row is put into the buckets of its nearest landmarks,
// and its neighbors are searched in its primary bucket, that of the nearest one. Between the two
// passes the buckets are stored in files. The recall is measured on a sample of rows, whose
// neighbors are also found exactly.
package nearest
