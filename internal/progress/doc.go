// Package progress draws the bar that shows on a terminal how far a piece of work is. It is a
// package by itself so that a program without a bar does not link the library that draws it.
package progress
