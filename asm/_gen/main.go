// Command _gen writes the assembly of package asm: one file of kernels for each level, and the
// Go declarations that go with it.
//
//	go run . -level avx512 -out ../avx512_amd64.s -stubs ../avx512_amd64.go -pkg asm
//	go run . -level neon -out ../neon_arm64.s -stubs ../neon_arm64.go -pkg asm
//
// Kernels process whole vectors only. The Go wrappers process the remaining elements, limit the
// length of a call, and document order and rounding.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/mmcloughlin/avo/build"
)

func main() {
	level := flag.String("level", "", "avx512, avx2 or neon")
	// -out, -stubs and -pkg are avo's own flags.
	flag.Parse()
	if *level == "neon" {
		if err := writeNEON(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	v, ok := vectors()[*level]
	if !ok {
		fmt.Fprintf(os.Stderr, "level is %q: want avx512, avx2 or neon\n", *level)
		os.Exit(2)
	}
	build.ConstraintExpr("amd64")
	build.ConstraintExpr("!purego")
	build.ConstraintExpr("!noasm")
	v.tile()
	v.direct()
	v.peak()
	v.transpose()
	v.reductions()
	v.elementwise()
	v.exp()
	v.gaussian()
	v.choleskyOnes()
	v.sweep()
	v.sparse()
	v.single()
	build.Generate()
}
