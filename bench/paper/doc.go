// Package paper repeats the tables and figures of published papers and compares our results with
// the printed ones.
//
// A [Table] is data (citation, rows, columns, printed numbers, notes on the set-up) and one
// function that runs a single repetition, a trial. [Run] repeats it. Trials run in parallel, and
// each draws its randomness from the seed and its own number alone, so the results are
// bit-identical for any number of workers and any order of finishing. A state file can keep
// finished trials, from which an interrupted run resumes. [Result.Markdown] and the JSON form of
// [Result] are the report.
//
// To add a table, write a function that returns a Table, in a file named after the paper or the
// experiment, and add it to the slice in [Tables]. A table on real data lists its files in Data.
// Prepare computes once what all trials share, such as the data in memory. A trial that takes more
// than a few seconds counts its Steps.
package paper
