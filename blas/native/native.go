package native

import (
	"fmt"
	"sync"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/gonum"
	"github.com/mustlink/mustlink/blas/tile"
)

var _ blas.Backend = (*backend)(nil)

type backend struct {
	t      *asm.Table
	nest   *tile.Nest
	alone  *tile.Nest   // of one worker, for use by tasks
	leaves sync.Pool    // of *leaf
	small  blas.Backend // for eigenvalues of small matrices
}

// New returns the backend on the kernels t, with up to workers goroutines a call; fewer
// than 1 count as 1.
func New(t *asm.Table, workers int) blas.Backend {
	return &backend{t: t, nest: tile.New(t, workers), alone: tile.New(t, 1), small: gonum.New(t)}
}

func (b *backend) Kernels() *asm.Table { return b.t }

func (b *backend) Name() string { return "native" }

func (b *backend) Describe() string {
	return fmt.Sprintf("Go, kernels %s, workers %d", b.t.Level, b.nest.Workers())
}

// blocks returns the number of blocks of that size that n elements need.
func blocks(n, size int) int { return (n + size - 1) / size }
