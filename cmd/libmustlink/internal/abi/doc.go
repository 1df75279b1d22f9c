// Package abi is what the functions of mustlink.h do, in Go alone: handles, codes, matrices with
// strides in memory that is not Go's, options in JSON, canceling and progress.
//
// Nothing here keeps a pointer that it was given: points that a model may keep are copied.
package abi
