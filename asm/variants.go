//go:build !(amd64 || arm64) || purego || noasm

package asm

// variants lists the levels above Generic that this build has kernels for: none.
func variants() []variant { return nil }
