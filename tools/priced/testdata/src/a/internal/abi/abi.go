// Package abi is named as the C interface, whose arguments are input.
package abi

func New(n int64) []float64 { return make([]float64, n) } // want "size of the allocation"

func inner(n int64) []float64 { return make([]float64, n) }
