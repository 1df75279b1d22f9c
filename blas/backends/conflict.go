//go:build netlib && (purego || !cgo)

package backends

// Fails to compile, and says why.
import _ "github.com/mustlink/mustlink/blas/internal/netlib"
