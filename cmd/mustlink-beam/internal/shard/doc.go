// Package shard finds the files that a job reads, divides them into runs of rows, and names the
// files that it writes for each run.
//
// Workers of a job exchange elements, not rows: an [Element] is a run of rows of one file. The
// worker that receives it reads the rows from the file and writes the results to a file of their
// own, whose name depends on the element only. So an element may be processed twice, one after the
// other or at a time, and the results are the same bytes under the same name.
package shard
