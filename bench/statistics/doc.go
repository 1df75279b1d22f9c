// Package statistics quantifies the uncertainty of comparisons: bootstrap intervals, tests of
// paired differences, and ranks over many data sets with their critical difference.
package statistics
