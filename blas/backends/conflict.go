//go:build netlib && (purego || !cgo)

package backends

// This import fails to compile, and the error explains the conflict of the build tags.
import _ "github.com/mustlink/mustlink/blas/internal/netlib"
