//go:build !linux

package engine

// adviseHuge does nothing: only Linux has the call.
func adviseHuge([]float64) {}
