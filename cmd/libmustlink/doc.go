// Command libmustlink is the engine as a C library: a shared or a static one with the interface of
// mustlink.h, for any language that can call C. The Python package beside it stands on it.
//
//	go build -buildmode=c-shared -o libmustlink.so ./cmd/libmustlink
//	go build -buildmode=c-archive -o libmustlink.a ./cmd/libmustlink
//
// `make build-lib` does both and sets versions of symbols; docs/bindings.md is the manual.
//
// The functions of the header are in abi.c, which look after threads and forks and call those of
// export.go; what they do is Go alone, in internal/abi.
package main
