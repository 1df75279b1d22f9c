// Package fitting fits models to rows that no machine holds. The methods are those that look at few
// of the rows: these are gathered, by their numbers, and the fit is the library's own on them, so
// that the model is that of a fit on all rows.
//
// The rows are those of links and the landmarks, which the library draws by the seed among all row
// numbers; and, where the kernel has a bandwidth rule, those that rules over pairs look at
// (bandwidth.Rows: 4096 of them, spread evenly). So mean and median have the bits of a fit on all
// rows; lle differs in the fourth digit, and msq and knn10, which look at all rows, are estimates.
package fitting
