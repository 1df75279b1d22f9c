package native

import (
	"fmt"
	"runtime"
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
	alone  *tile.Nest   // with one worker, for use inside tasks
	leaves sync.Pool    // of *leaf
	small  blas.Backend // for eigenvalues of small matrices
}

// New returns the backend on the kernels t, with up to workers goroutines a call, but not more than
// there are processors: more would share the caches and have smaller blocks. Fewer than 1 count as
// 1.
func New(t *asm.Table, workers int) blas.Backend {
	workers = min(workers, runtime.NumCPU(), runtime.GOMAXPROCS(0))
	return &backend{t: t, nest: tile.New(t, workers), alone: tile.New(t, 1), small: gonum.New(t)}
}

func (b *backend) Kernels() *asm.Table { return b.t }

func (b *backend) Name() string { return "native" }

func (b *backend) Describe() string {
	return fmt.Sprintf("Go, kernels %s, workers %d", b.t.Level, b.nest.Workers())
}

// blocks returns the number of blocks of the given size for n elements.
func blocks(n, size int) int { return (n + size - 1) / size }

func (b *backend) Gemm(transA, transB bool, alpha float64, x, y blas.Matrix, beta float64, c blas.Matrix) {
	blas.CheckGemm(transA, transB, x, y, c)
	b.nest.Multiply(tile.Product{
		Alpha: alpha, A: tile.Operand{Matrix: x, Trans: transA}, B: tile.Operand{Matrix: y, Trans: transB},
		Beta: beta, C: c,
	})
}

func (b *backend) Syrk(trans bool, alpha float64, a blas.Matrix, beta float64, c blas.Matrix) {
	blas.CheckSyrk(trans, a, c)
	b.nest.Multiply(tile.Product{
		Alpha: alpha, A: tile.Operand{Matrix: a, Trans: trans}, B: tile.Operand{Matrix: a, Trans: !trans},
		Beta: beta, C: c, Lower: true,
	})
}

func (b *backend) Symm(left bool, alpha float64, a, x blas.Matrix, beta float64, c blas.Matrix) {
	blas.CheckSymm(left, a, x, c)
	p := tile.Product{
		Alpha: alpha, A: tile.Operand{Matrix: a, Symmetric: true}, B: tile.Operand{Matrix: x},
		Beta: beta, C: c,
	}
	if !left {
		p.A, p.B = p.B, p.A
	}
	b.nest.Multiply(p)
}
