// Package compare runs every method of the catalog on the same points with the same links: the
// cross table of methods and data sets, learning curves over the number of links and over the share
// of wrong links, and summaries of both.
//
// A comparison is a [paper.Table] for every data set, so it is repeated, interrupted and resumed in
// the same way as the tables of papers.
package compare
