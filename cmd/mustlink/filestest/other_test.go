//go:build !unix

package filestest

import "os"

func peakMemory(*os.ProcessState) (int64, bool) { return 0, false }

func forgetPeak() {}
