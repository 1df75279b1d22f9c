// Package progress draws a progress bar on a terminal. It is a separate package so that a program
// without a bar does not link the library that draws it.
package progress
