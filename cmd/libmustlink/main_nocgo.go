//go:build !cgo

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr,
		"libmustlink: this is a C library, and the build has no cgo: want CGO_ENABLED=1 and a C compiler")
	os.Exit(2)
}
