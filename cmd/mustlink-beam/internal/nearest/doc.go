// Package nearest computes the graph of the k nearest neighbors of rows in many files.
//
// The exact method compares the rows of each element with those of all elements, which its worker
// reads one after another. Nothing is shuffled, and all rows are read once for every element. The
// result is bit-identical to that of graph.Nearest on all rows.
//
// The approximate method uses landmarks. A row is put into the buckets of its nearest landmarks. It
// is a primary row of the bucket of the nearest one, where its neighbors are searched. Between the
// two passes the buckets are stored in files. The recall is measured on a sample of rows, for which
// the neighbors are also found exactly.
package nearest
