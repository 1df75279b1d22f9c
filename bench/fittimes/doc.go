// Package fittimes measures how long every method of the catalog takes to fit, how that grows with
// points, features and links, and how it compares between builds of the program.
package fittimes
