// Package abi implements the functions of mustlink.h, in Go only: handles, codes, matrices with
// strides in the caller's memory, options in JSON, cancellation and progress.
//
// The package keeps no pointer of a caller: it copies points that a model may keep.
package abi
