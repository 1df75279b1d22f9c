// Package mustlink is the front page of the module: it holds no code, only the example of
// how the library's packages work together.
//
// Objects come from engine/points or engine/dataset, constraints from engine/links, a
// learner from one of the packages below algorithms (or by name from algorithms/catalog),
// and what it fits is an [github.com/mustlink/mustlink/algorithms.Model]: a map into a
// space in which ordinary Euclidean tools work.
package mustlink
