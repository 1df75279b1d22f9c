//go:build cgo

package main

import (
	"fmt"
	"os"
)

// main runs only when this is built as a program.
func main() {
	fmt.Fprintln(os.Stderr,
		"libmustlink: this is a C library, not a program: want -buildmode=c-shared or -buildmode=c-archive")
	os.Exit(2)
}
