//go:build !linux

package soak

import "runtime"

// resident returns the memory that the Go runtime has from the system, in bytes. Systems other than
// Linux have no common way to report the memory in RAM.
func resident() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}
