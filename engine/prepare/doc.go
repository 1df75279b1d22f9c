// Package prepare (engine room: may change) makes rows of numbers of the columns of a table: gaps
// are filled, categories become columns of zeros and ones, dates become numbers, and numbers are
// scaled.
//
// [Fit] finds the kind of every column from all rows and what its kind asks for. The result is a
// [dataset.Transform]: nil where the rows can be used as they are, a [dataset.Scaling] where
// complete numbers are only standardized, else a [Preparation]. The list of
// [Column] says in words what was found and what is done.
//
// Results are the same bits for any number of processors: columns and blocks of rows are
// independent of each other.
package prepare
