//go:build !linux

package measure

import "os"

// PeakOf returns 0: it is not known here.
func PeakOf(*os.ProcessState) int64 { return 0 }
