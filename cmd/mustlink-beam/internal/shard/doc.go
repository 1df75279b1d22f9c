// Package shard knows the files that a job reads and writes: which there are, the runs of rows that
// they are read in, and the names of what is written for each run.
//
// An [Element], a run of rows of one file, is what travels between the workers of a job; its rows
// do not. Whoever gets an element reads its rows from the file, and writes what comes of them to a
// file of their own, whose name follows from the element alone. So an element may be worked on
// twice, one after the other or at a time, and the outcome is the same bytes under the same name.
package shard
