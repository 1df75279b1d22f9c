package main

import (
	"fmt"
	"os"
)

// instead says what is wanted; the files with cgo replace it.
var instead = ", and the build has no cgo: want CGO_ENABLED=1 and a C compiler"

// main runs only when this is built as a program.
func main() {
	fmt.Fprintln(os.Stderr, "libmustlink: this is a C library"+instead)
	os.Exit(2)
}
