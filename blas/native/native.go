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
	eigen  blas.Backend // for SymEig
}

// New returns the backend on the kernels t, with up to workers goroutines a call; fewer
// than 1 count as 1. Full eigendecompositions use up to GOMAXPROCS goroutines instead.
func New(t *asm.Table, workers int) blas.Backend {
	return &backend{t: t, nest: tile.New(t, workers), alone: tile.New(t, 1), eigen: gonum.New(t)}
}

func (b *backend) Kernels() *asm.Table { return b.t }

func (b *backend) Name() string { return "native" }

func (b *backend) Describe() string {
	return fmt.Sprintf("Go, kernels %s, workers %d; eigenvalues: %s", b.t.Level, b.nest.Workers(), b.eigen.Describe())
}

func (b *backend) SymEig(a blas.Matrix, w []float64, vectors bool) error {
	return b.eigen.SymEig(a, w, vectors)
}

// blocks returns the number of blocks of that size that n elements need.
func blocks(n, size int) int { return (n + size - 1) / size }
