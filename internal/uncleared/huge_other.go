//go:build !linux

package uncleared

// adviseHuge does nothing: only Linux has this system call.
func adviseHuge([]float64) {}
