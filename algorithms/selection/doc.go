// Package selection (engine room: may change) chooses a method, its kernel and its parameters for
// given points and links: candidates are fitted on a part of the links and judged by how well they
// predict the others.
package selection
