//go:build netlib && cgo && !purego

package backends

import (
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/netlib"
)

// Release gives the BLAS library back the threads that it had before its backend was used, for
// processes in which others call it too; it waits for calls under way. Nothing happens in builds
// without such a library.
func Release() { netlib.Release() }

func extra() []entry {
	return []entry{{"netlib", func(t *asm.Table, threads int) blas.Backend { return netlib.New(t, threads) }}}
}
