package dataset

import "syscall"

// restPages tells the system that pages of a file are not needed for a while. It ignores errors:
// the pages then stay in memory.
func restPages(pages []byte) {
	if pages != nil {
		_ = syscall.Madvise(pages, syscall.MADV_DONTNEED)
	}
}
