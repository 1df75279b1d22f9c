//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakOf returns the largest resident set of an ended process in bytes, on systems that count it in
// kilobytes.
func peakOf(s *os.ProcessState) int64 {
	usage, ok := s.SysUsage().(*syscall.Rusage)
	if !ok || runtime.GOOS != "linux" {
		return 0
	}
	return usage.Maxrss << 10
}

// forgetPeak resets the peak memory of this process, because the processes that it starts inherit
// it.
func forgetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }
