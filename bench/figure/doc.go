// Package figure draws the pictures of a measurement or of an embedding: points in the plane
// with their links, and lines.
//
// A figure is one or more panels side by side, each a [Scatter] or [Lines], written by [Write]
// as PNG, SVG or PDF. The bytes depend on the figure alone. Colours are those of Okabe and
// Ito, which people with any colour vision can tell apart, their yellow darkened to be seen
// on white; groups also differ in shape, lines in dashes.
package figure
