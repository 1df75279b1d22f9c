// Package asm (internal: may change) has the inner loops of numerical work, selected once for a
// CPU.
//
// A [Table] is a set of kernels on slices and register tiles of float64. [Select] makes one: it
// fills every entry with the generic Go kernel, and then each level up to the requested one
// overwrites the entries that it speeds up. A kernel that a level lacks is slower, never missing.
// The block sizes are stored with the kernels that need them.
//
// Kernels check nothing: the caller ensures the preconditions in [Table]. The doc of an entry is
// the Go loop that it equals, with the order of summation, NaN and aliasing. No entry fuses a
// product and a sum at level [Generic]. A faster level may fuse, and may sum in another order,
// which depends only on the lengths, never on alignment or on memory outside the operands. Levels
// therefore agree to a small multiple of n eps, and the result of one level is bit-identical
// wherever in memory its operands are.
package asm

//go:generate go -C _gen run . -level avx512 -out ../avx512_amd64.s -stubs ../avx512_amd64.go -pkg asm
//go:generate go -C _gen run . -level avx2 -out ../avx2_amd64.s -stubs ../avx2_amd64.go -pkg asm
//go:generate go -C _gen run . -level neon -out ../neon_arm64.s -stubs ../neon_arm64.go -pkg asm
