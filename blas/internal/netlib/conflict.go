//go:build netlib && (purego || !cgo)

package netlib

// The tags contradict each other: a readable compile error, not a silent fallback.
var _ = netlib_needs_cgo_and_excludes_purego
