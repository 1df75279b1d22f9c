// Package asm (engine room: may change) holds the inner loops of numerical work, chosen once for a
// CPU.
//
// A [Table] is a set of kernels on slices and register tiles of float64. [Select] makes
// one: it fills every entry with the generic Go kernel and then lets the levels up to the
// one asked for overwrite the entries they speed up, so a kernel that a level lacks is
// slower, never absent. The blocking sizes stand beside the kernels that need them.
//
// Kernels check nothing: the preconditions in [Table] are the caller's. The doc of an
// entry is the Go loop it equals, with the order of summation, NaN and aliasing. No entry
// fuses a product and a sum at level [Generic]; a faster level may fuse and may sum in an
// order of its own, which then depends on the lengths only, never on alignment or on what
// lies beside the data. Levels therefore agree to a small multiple of n eps, and one
// level gives the same bits wherever in memory its operands are.
package asm

//go:generate go -C _gen run . -level avx512 -out ../avx512_amd64.s -stubs ../avx512_amd64.go -pkg asm
//go:generate go -C _gen run . -level avx2 -out ../avx2_amd64.s -stubs ../avx2_amd64.go -pkg asm
//go:generate go -C _gen run . -level neon -out ../neon_arm64.s -stubs ../neon_arm64.go -pkg asm
