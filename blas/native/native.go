package native

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/gonum"
)

var _ blas.Backend = (*backend)(nil)

type backend struct {
	t       *asm.Table
	workers int
	eigen   blas.Backend // for SymEig
	scratch scratchPool
}

// New returns the backend on the kernels t, with up to workers goroutines a call; fewer
// than 1 count as 1. Full eigendecompositions use up to GOMAXPROCS goroutines instead.
func New(t *asm.Table, workers int) blas.Backend {
	return &backend{t: t, workers: max(1, workers), eigen: gonum.New()}
}

func (b *backend) Name() string { return "native" }

func (b *backend) Describe() string {
	return fmt.Sprintf("Go, kernels %s, workers %d; eigenvalues: %s", b.t.Level, b.workers, b.eigen.Describe())
}

func (b *backend) SymEig(a blas.Matrix, w []float64, vectors bool) error {
	return b.eigen.SymEig(a, w, vectors)
}

// parallelFlops is the work below which a call stays on its goroutine: some 50 us, ten
// times what it costs to start the others.
const parallelFlops = 250e3

// each calls f(0), ..., f(n-1), spread over the workers if there is enough work. The calls
// must be independent: which worker makes which call is left to chance.
func (b *backend) each(n int, flops float64, f func(i int)) {
	workers := min(b.workers, n)
	if workers <= 1 || flops < parallelFlops {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}

// eachBlock is each over the blocks [lo, hi) of the given size that make up [0, n).
func (b *backend) eachBlock(n, size int, flops float64, f func(lo, hi int)) {
	b.each(blocks(n, size), flops, func(i int) { f(i*size, min((i+1)*size, n)) })
}

// blocks returns the number of blocks of that size that n elements need.
func blocks(n, size int) int { return (n + size - 1) / size }

// scratchPool lends out packing buffers. Small and large ones are kept apart, so that a
// small product neither clears nor holds half a megabyte.
type scratchPool struct{ small, large sync.Pool }

const smallScratch = 1 << 13 // elements, 64 KiB

// get returns a buffer of n elements, contents undefined, and the way to give it back.
func (p *scratchPool) get(n int) (buf []float64, put func()) {
	pool, size := &p.small, smallScratch
	if n > smallScratch {
		pool, size = &p.large, n
	}
	s, _ := pool.Get().(*[]float64)
	if s == nil || len(*s) < n {
		fresh := make([]float64, size)
		s = &fresh
	}
	return (*s)[:n], func() { pool.Put(s) }
}
