//go:build !linux

package engine

// adviseHuge does nothing: only Linux has this system call.
func adviseHuge([]float64) {}
