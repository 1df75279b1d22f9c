package engine

import (
	"syscall"
	"unsafe"
)

// hugePage is the size of a huge page on amd64 and of the usual one on arm64. Where the
// true size is larger the hint still holds, for the pages that fit.
const hugePage = 2 << 20

// adviseHuge asks the kernel to back the part of data that holds whole huge pages with
// them. It is a hint and its failure means nothing.
//
// The memory stays an ordinary Go allocation: the advice changes how the kernel maps pages
// and never their contents, so the garbage collector need not know, and a later owner of
// the same addresses inherits nothing but the hint.
func adviseHuge(data []float64) {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	end := start + uintptr(len(data))*8
	lo := (start + hugePage - 1) &^ (hugePage - 1)
	hi := end &^ (hugePage - 1)
	if lo >= hi {
		return
	}
	pages := unsafe.Slice((*byte)(unsafe.Pointer(&data[(lo-start)/8])), hi-lo)
	_ = syscall.Madvise(pages, syscall.MADV_HUGEPAGE)
}
