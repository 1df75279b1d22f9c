// Package statistics says how sure a comparison of systems is: bootstrap intervals, tests of paired
// differences, and ranks over many data sets with the difference that counts.
package statistics
