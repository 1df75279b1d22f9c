package soak

import (
	"bytes"
	"os"
	"strconv"
)

// resident returns the memory of this process that is in RAM, in bytes, 0 if it cannot be read.
func resident() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(text)
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
