package measure

import (
	"os"
	"syscall"
)

// PeakOf returns the maximum memory in RAM of a process that has ended, in bytes, 0
// if that is not known. A process begins as a copy of the one that starts it, and so it is at least
// what that one ever had.
func PeakOf(ended *os.ProcessState) int64 {
	if r, ok := ended.SysUsage().(*syscall.Rusage); ok {
		return int64(r.Maxrss) << 10 // KiB
	}
	return 0
}
