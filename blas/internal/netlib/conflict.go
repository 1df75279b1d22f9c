//go:build netlib && (purego || !cgo)

package netlib

// The tags contradict each other. The result is a readable compile error instead of a silent
// fallback.
var _ = netlib_needs_cgo_and_excludes_purego
