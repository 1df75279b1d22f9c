// Package fitting fits models to rows in many files, by methods that need only a few of the rows.
// These rows are gathered by their numbers, and the library's own fit runs on them, so that the
// model is that of a fit on all rows.
//
// The rows are the linked rows and the landmarks, which the library draws by the seed among all row
// numbers. A kernel with a bandwidth rule also needs the rows of rules over pairs (bandwidth.Rows:
// 4096 of them, spread evenly). So mean and median are bit-identical to those of a fit on all rows.
// lle differs in the fourth digit, and msq and knn10, which use all rows in the library, are
// estimates.
package fitting
