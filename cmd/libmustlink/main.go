//go:build cgo

package main

import (
	"fmt"
	"os"
)

// main runs only in a build that is no library.
func main() {
	fmt.Fprintln(os.Stderr, "libmustlink: it is a C library: want -buildmode=c-shared or c-archive")
	os.Exit(2)
}
