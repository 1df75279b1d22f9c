// Package paper repeats the tables of published papers and sets our figures beside the
// printed ones.
//
// A [Table] is data (citation, rows, columns, printed numbers, notes on the set-up) and
// one function that runs a single repetition. [Run] repeats it: trials run in parallel,
// each draws its randomness from the seed and its own number alone, so the figures are the
// same bits for any number of workers and any order of finishing; finished trials can be
// kept in a state file from which an interrupted run goes on. [Result.Markdown] and the
// JSON form of [Result] are the report.
//
// To add a table: write a function that returns a Table, in a file named after the paper or
// the experiment, and add it to the slice in [Tables]. A table on real data lists its files in
// Data; what all trials share, such as the data in memory, is made once by Prepare; a trial
// of more than some seconds counts its Steps.
package paper
