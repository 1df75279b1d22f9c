package hugepages

import (
	"syscall"
	"unsafe"
)

// hugePage is the size of a huge page on amd64, and the usual size on arm64. Where the true size is
// larger, the hint still applies to the pages that fit.
const hugePage = 2 << 20

// adviseHuge asks the operating system to use huge pages for the part of large data that spans
// whole ones. It is a hint; its failure is harmless.
//
// The memory stays an ordinary Go allocation: the advice changes how pages are mapped, never their
// contents. The garbage collector is not affected, and a later owner of the same addresses inherits
// only the hint.
func adviseHuge(data []float64) {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	end := start + uintptr(len(data))*8
	lo := (start + hugePage - 1) &^ (hugePage - 1)
	hi := end &^ (hugePage - 1)
	pages := unsafe.Slice((*byte)(unsafe.Pointer(&data[(lo-start)/8])), hi-lo)
	_ = syscall.Madvise(pages, syscall.MADV_HUGEPAGE)
}
