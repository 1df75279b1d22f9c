package engine

import (
	"runtime"
	"slices"
	"sync"

	"github.com/mustlink/mustlink/blas"
)

// Bounds of the scratch pool: beyond them the oldest buffers go to the garbage collector.
const (
	scratchBuffers = 32
	scratchBytes   = 256 << 20
)

// scratchPool keeps returned buffers, oldest first. It is a plain list under a mutex, not a
// sync.Pool, because its size is bounded in bytes and matrices are found by size.
type scratchPool struct {
	mu    sync.Mutex
	free  [][]float64
	bytes int
}

// GetMatrix returns a rows x cols scratch matrix, compact, with undefined contents: every element
// must be written before it is read. Return it with [Engine.PutMatrix]; the garbage collector takes
// those that are not returned. GetMatrix does not check the memory limit.
func (e *Engine) GetMatrix(rows, cols int) blas.Matrix {
	if rows < 0 || cols < 0 {
		panic("engine: negative dimension")
	}
	if data := e.scratch.take(rows * cols); data != nil {
		return blas.MatrixOf(rows, cols, data)
	}
	return e.UnclearedMatrix(rows, cols)
}

// PutMatrix returns a matrix that came from [Engine.GetMatrix] (not a view of one). The
// caller must not use it afterwards.
func (e *Engine) PutMatrix(m blas.Matrix) { e.scratch.give(m.Data) }

// take removes the smallest buffer that holds n values without wasting more than three
// quarters of it, or returns nil.
func (p *scratchPool) take(n int) []float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	best := -1
	for i, b := range p.free {
		if c := cap(b); c >= n && c <= 4*n && (best < 0 || c < cap(p.free[best])) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	b := p.free[best]
	p.free = slices.Delete(p.free, best, best+1)
	p.bytes -= 8 * cap(b)
	return b[:n]
}

func (p *scratchPool) give(b []float64) {
	size := 8 * cap(b)
	if size > scratchBytes {
		// Without an explicit collection, as much memory again could be allocated before this is
		// freed.
		b = nil
		runtime.GC()
		return
	}
	if size == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	drop := 0
	for len(p.free)-drop >= scratchBuffers || p.bytes+size > scratchBytes {
		p.bytes -= 8 * cap(p.free[drop])
		drop++
	}
	p.free = append(slices.Delete(p.free, 0, drop), b[:0])
	p.bytes += size
}
