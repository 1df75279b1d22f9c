// Package dataset (engine room: may change) brings data into the program and results out of it:
// files of points, labels, links and pairs, standardization, splits and synthetic sets.
//
// # Files
//
// The format follows from the name, each also with .gz behind it:
//
//	.csv   text with a header. The column `label`, if there, is the label; `id`, if there,
//	       names the rows; every other column is a numeric feature.
//	.npy   NumPy's array file, float64, float32, int32 or int64, of one or two dimensions.
//
// Missing values, NaN and infinities are errors. So is anything else that is not what it
// should be: the readers return a *fault.DataError that names the file, the line, the
// 0-based data row and the column, and says what was expected; [Check] and [CheckLinks]
// go on after the first and return all of them, each with a way to mend it. Readers
// stream: they never hold more of a file than the values it contains, and a line may have
// at most ReadOptions.MaxLine bytes.
//
// The other files are CSV: labels have the column `label` (and may have `id`); links have
// `i,j,link` and may have `bound` and `weight`; chunklets have `i,chunklet`; pairs have
// `i,j`. Rows are named by 0-based numbers, or by ids.
//
// Outputs appear as a whole or not at all, see [Atomic].
//
// # Text
//
// CSV is RFC 4180 in UTF-8: fields may be quoted, a quoted field may hold commas and line
// ends, lines end in LF or CRLF, a byte order mark is skipped. Spaces before an unquoted
// field are not part of it. Blank lines may only stand at the end.
package dataset
