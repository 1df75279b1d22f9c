// Package builds compares the results of the builds of the library: every method on two fixed
// problems, by quantities that do not depend on the rotation of an embedding or the sign of an
// eigenvector.
package builds
