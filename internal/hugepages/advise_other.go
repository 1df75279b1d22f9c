//go:build !linux

package hugepages

// adviseHuge does nothing: only Linux has this system call.
func adviseHuge([]float64) {}
