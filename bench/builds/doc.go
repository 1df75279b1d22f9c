// Package builds compares what the builds of one library compute: every method on two fixed
// problems, by what does not depend on the rotation of an embedding or the sign of an eigenvector.
package builds
