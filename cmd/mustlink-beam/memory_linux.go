package main

import (
	"os"
	"syscall"
)

// peakMemory returns the maximum resident memory, in bytes, of a process that has ended.
func peakMemory(p *os.ProcessState) int64 {
	if use, ok := p.SysUsage().(*syscall.Rusage); ok {
		return use.Maxrss << 10
	}
	return 0
}
