//go:build !linux

package measure

import "os"

// PeakOf returns 0: the maximum memory of a process is not known on this system.
func PeakOf(*os.ProcessState) int64 { return 0 }
