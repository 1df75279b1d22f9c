// Package native is the default backend: Go on the kernels of an asm.Table.
package native

import (
	"fmt"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/gonum"
)

type backend struct {
	blas.Backend
	t       *asm.Table
	workers int
}

// New returns the backend on the kernels t, with up to workers goroutines a call.
func New(t *asm.Table, workers int) blas.Backend {
	return &backend{gonum.New(), t, workers}
}

func (b *backend) Name() string { return "native" }

func (b *backend) Describe() string {
	return fmt.Sprintf("native Go, %s kernels, %d workers", b.t.Level, b.workers)
}
