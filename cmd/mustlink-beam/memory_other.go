//go:build !linux

package main

import "os"

// peakMemory returns 0: only Linux reports it in reliable units.
func peakMemory(*os.ProcessState) int64 { return 0 }
