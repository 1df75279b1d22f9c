// Package compare sets every method of the catalog before the same points with the same links: the
// cross table of methods and data sets, learning curves over the number of links and over the share
// of wrong ones, and what they come to.
//
// A comparison is a [paper.Table] for every data set, so it is repeated, interrupted and resumed as
// the papers' tables are.
package compare
