// Package nearest makes the graph of the k nearest rows of every row, among rows that no machine
// holds.
//
// Either exactly: each element's rows are compared with those of all elements, which its worker
// reads one after another. Nothing is shuffled, the rows are read as many times as there are
// elements, and the outcome is that of graph.Nearest on all rows, to the bit.
//
// Or along landmarks: a row is kept in the buckets of its nearest landmarks, and its neighbors are
// sought in the bucket of the nearest one alone. The buckets lie in files between the two passes.
// What this misses is measured on a sample of the rows, whose neighbors are found exactly.
package nearest
