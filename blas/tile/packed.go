package tile

import (
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/form"
)

// Packed is a set of vectors of length k laid out once for many products: as the rows of a left
// factor, or as the columns of a right one. Products of the vectors of two sets are bit-identical
// to the elements that [Nest.Multiply] computes.
type Packed struct {
	t     *asm.Table
	width int // vectors in a panel: MR or NR
	k     int
	depth int // of a block of k
	lanes int // vectors, rounded up to whole panels
	data  []float64
}

// LeftSize returns the number of elements that n vectors of length k take as a left factor.
func LeftSize(t *asm.Table, n, k int) int { return blocks(n, t.MR) * t.MR * k }

// RightSize returns the number of elements that n vectors of length k take as a right factor.
func RightSize(t *asm.Table, n, k int) int { return blocks(n, t.NR) * t.NR * k }

// NewLeft returns n vectors of length k as a left factor in memory of [LeftSize], to be
// filled by Pack.
func NewLeft(t *asm.Table, n, k int, memory []float64) Packed {
	return newPacked(t, t.MR, n, k, memory)
}

// NewRight returns n vectors of length k as a right factor in memory of [RightSize], to be
// filled by Pack.
func NewRight(t *asm.Table, n, k int, memory []float64) Packed {
	return newPacked(t, t.NR, n, k, memory)
}

func newPacked(t *asm.Table, width, n, k int, memory []float64) Packed {
	lanes := blocks(n, width) * width
	return Packed{t, width, k, share(k, t.KC, 1), lanes, memory[:lanes*k]}
}

// Unit returns the number of vectors in a panel: calls of Pack for different multiples of it
// write to different places.
func (p *Packed) Unit() int { return p.width }

// Pack stores the rows of m as vectors from i0 on, a multiple of Unit. Unless they are the last
// ones, the number of rows is a multiple of Unit, too.
func (p *Packed) Pack(m blas.Matrix, i0 int) {
	for b := range blocks(p.k, p.depth) {
		l0, l1 := b*p.depth, min((b+1)*p.depth, p.k)
		Pack(p.t, p.panels(b, i0), p.width, p.width*(l1-l0), m, true, 0, m.Rows, l0, l1)
	}
}

// panels returns block b of k from the panel that begins with vector i0 on.
func (p *Packed) panels(b, i0 int) []float64 {
	l0, l1 := b*p.depth, min((b+1)*p.depth, p.k)
	return p.data[p.lanes*l0+i0*(l1-l0) : p.lanes*l1]
}

// PackColumns is Pack for the columns of m.
func (p *Packed) PackColumns(m blas.Matrix, i0 int) {
	for b := range blocks(p.k, p.depth) {
		l0, l1 := b*p.depth, min((b+1)*p.depth, p.k)
		Pack(p.t, p.panels(b, i0), p.width, p.width*(l1-l0), m, false, 0, m.Cols, l0, l1)
	}
}

// MultiplyPacked writes the inner products of a's vectors with b's from j0 on, a multiple of b's
// Unit, plus beta C to c, on the calling goroutine. c has whole tiles: its rows are a multiple of
// MR, at most as many as a has vectors, and its columns a multiple of NR. 2 k flops per element.
func MultiplyPacked(beta float64, c blas.Matrix, a, b *Packed, j0 int) {
	if a.k == 0 {
		form.Scale(beta, c)
		return
	}
	j := job{Product: Product{Alpha: 1, C: c}, t: a.t}
	for i := range blocks(a.k, a.depth) {
		s := sweep{job: &j, depth: min(a.depth, a.k-i*a.depth), i1: c.Rows, j1: c.Cols}
		if s.beta = beta; i > 0 {
			s.beta = 1
		}
		s.tiles(a.panels(i, 0), b.panels(i, j0), 0, 0)
	}
}
