// Package dataset (engine room: may change) reads and writes files of points, labels, links and
// pairs, standardizes data, splits it, and generates synthetic sets.
//
// # Files
//
// The format follows from the file's name, which may also end in .gz:
//
//	.csv   text with a header. The column `label`, if there, is the label; `id`, if there,
//	       names the rows; every other column is a numeric feature.
//	.npy   NumPy's array file, float64, float32, int32 or int64, of one or two dimensions.
//
// Missing values, NaN and infinities are errors, as is anything else that a format does not allow.
// Readers return a *fault.DataError that names the file, the line, the 0-based data row and the
// column, and states what was expected; [Check] and [CheckLinks] continue after the first error and
// return all of them, each with a suggested fix. Readers stream: only the values of a file are in
// memory, and a line may have at most ReadOptions.MaxLine bytes.
//
// The other files are CSV: labels have the column `label` (and may have `id`); links have
// `i,j,link` and may have `bound` and `weight`; chunklets have `i,chunklet`; pairs have `i,j`. Rows
// are given by 0-based numbers, or by ids.
//
// Output files appear complete or not at all; see [Atomic].
//
// # Text
//
// CSV is RFC 4180 in UTF-8: fields may be quoted, a quoted field may hold commas and line ends,
// lines end in LF or CRLF, a byte order mark is skipped. Spaces before an unquoted field are not
// part of it. Blank lines are allowed only at the end.
package dataset
