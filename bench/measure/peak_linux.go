package measure

import (
	"os"
	"syscall"
)

// PeakOf returns the maximum memory in RAM of a process that has ended, in bytes, or 0 if it is not
// known. A process begins as a copy of its parent, so the value is at least the maximum of the
// parent.
func PeakOf(ended *os.ProcessState) int64 {
	if r, ok := ended.SysUsage().(*syscall.Rusage); ok {
		return int64(r.Maxrss) << 10 // KiB
	}
	return 0
}
