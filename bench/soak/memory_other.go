//go:build !linux

package soak

import "runtime"

// resident returns the memory that the Go runtime has from the system, in bytes: other systems do
// not tell what is in RAM in one way.
func resident() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}
