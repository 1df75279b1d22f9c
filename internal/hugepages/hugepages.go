// Package hugepages allocates large memory for numbers: in huge pages, and not cleared.
package hugepages

import (
	"strings"
	"unsafe"
)

// Large is the number of values from which memory is large, 4 MiB. For less, clearing and the first
// touch of 4 KiB pages are cheap compared with any computation that fills it.
const Large = 4 << 20 / 8

// Floats returns n values with undefined contents if they are large, and zeros otherwise. The
// runtime would clear memory on one core, at the speed of its first touch; here the workers that
// write it touch it first. On Linux it asks for huge pages, which makes the first touch several
// times faster.
func Floats(n int) []float64 {
	if n < Large {
		return make([]float64, n)
	}
	// A strings.Builder is the only way to memory of the garbage collector that it does not clear.
	// Memory without pointers may have any type.
	var b strings.Builder
	b.Grow(8 * n)
	b.WriteByte(0)
	data := unsafe.Slice((*float64)(unsafe.Pointer(unsafe.StringData(b.String()))), n)
	adviseHuge(data)
	return data
}
