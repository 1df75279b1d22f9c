//go:build unix && !netlib

package dataset

import (
	"os"
	"syscall"
)

// mapPages returns the bytes of a file as read-only pages.
func mapPages(f *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
}

func unmapPages(pages []byte) error { return syscall.Munmap(pages) }
