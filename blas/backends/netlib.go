//go:build netlib && cgo && !purego

package backends

import (
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/netlib"
)

func extra() []entry {
	return []entry{{"netlib", func(t *asm.Table, threads int) blas.Backend { return netlib.New(t, threads) }}}
}
