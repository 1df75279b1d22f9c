package main

import (
	"os"
	"syscall"
)

// peakMemory returns the most bytes that a process that has ended had in memory.
func peakMemory(p *os.ProcessState) int64 {
	if use, ok := p.SysUsage().(*syscall.Rusage); ok {
		return use.Maxrss << 10
	}
	return 0
}
