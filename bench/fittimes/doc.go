// Package fittimes measures how long a fit of every method of the catalog takes, how this time
// grows with the numbers of points, features and links, and how it differs between builds of the
// program.
package fittimes
