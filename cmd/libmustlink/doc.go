// Command libmustlink is the C library: a shared or static library with the interface of
// mustlink.h, for any language that can call C. The Python package in this folder uses it.
//
//	go build -buildmode=c-shared -o libmustlink.so ./cmd/libmustlink
//	go build -buildmode=c-archive -o libmustlink.a ./cmd/libmustlink
//
// `make build-lib` builds both and adds symbol versions. docs/bindings.md is the manual.
//
// The functions of the header are in abi.c, which handles threads and forks and calls the functions
// of export.go. The work is done in internal/abi, in Go only.
package main
