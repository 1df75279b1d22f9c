//go:build netlib && cgo && !purego

package backends

import (
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/netlib"
)

// Release restores the thread count that the BLAS library had before its backend was used, for
// processes in which other code calls the library, too. It waits for running calls. In builds
// without such a library it does nothing.
func Release() { netlib.Release() }

func extra() []entry {
	return []entry{{"netlib", func(t *asm.Table, threads int) blas.Backend { return netlib.New(t, threads) }}}
}
