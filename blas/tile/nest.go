// Package tile (internal: may change) multiplies dense matrices: packing, and the one loop nest
// around the register tile of an asm.Table.
//
// A [Nest] computes a [Product]. B is packed into panels of NR columns that all workers
// share, blocks of rows of A into panels of MR rows that one worker keeps in its cache, and
// every pair of panels goes through the table's tile.
//
// # Bits
//
// k is divided into equal blocks of at most KC, which depend only on k. Within a block the terms of
// an element are added in order, starting from 0; blocks are added to C in order. So the bits of an
// element depend on its row of op(A), its column of op(B), alpha, beta and C, but not on the rest
// of the call, the number of workers, or the addresses of the operands. If A is transposed and C
// has few columns, blocks are smaller and added in parts, which depend on k and these columns.
package tile

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/internal/forks"
	"github.com/mustlink/mustlink/internal/hugepages"
	"github.com/mustlink/mustlink/internal/panics"
)

// Nest is the loop nest on one table, with its workers and scratch memory. It is safe for
// concurrent use.
type Nest struct {
	t       *asm.Table
	workers int
	sizes   sizes
	scratch [scratchClasses]sync.Pool // of *[]float64, by size
	jobs    sync.Pool                 // of *job
}

// New returns the nest on the kernels t, with up to workers goroutines per call; fewer than 1 count
// as 1.
func New(t *asm.Table, workers int) *Nest {
	return &Nest{t: t, workers: max(1, workers), sizes: blockSizes}
}

// Workers returns the number of goroutines that a large call uses.
func (n *Nest) Workers() int { return n.workers }

// Scratch memory has sizes of powers of two from 2^minScratch elements, 64 KiB, which the allocator
// aligns to pages: panels then start at boundaries that are fast for vector loads.
const (
	minScratch     = 13
	scratchClasses = 28
)

// WorkersFor returns how many workers that much work is worth.
func (n *Nest) WorkersFor(flops float64) int {
	if flops < parallelFlops {
		return 1
	}
	return int(min(float64(n.workers), 1+flops/parallelFlops))
}

// Borrow returns at least size elements of scratch memory with undefined contents, to be returned
// with [Nest.Return]. It does not allocate once the nest is warm.
func (n *Nest) Borrow(size int) *[]float64 {
	c := scratchClass(size)
	if s, _ := n.scratch[c].Get().(*[]float64); s != nil && len(*s) >= size {
		return s
	}
	s := hugepages.Floats(max(size, 1<<(c+minScratch)))
	return &s
}

// Return returns memory from [Nest.Borrow].
func (n *Nest) Return(s *[]float64) { n.scratch[scratchClass(len(*s))].Put(s) }

func scratchClass(size int) int {
	return min(max(0, bits.Len(uint(max(1, size)-1))-minScratch), scratchClasses-1)
}

// Each calls f(0), ..., f(tasks-1), on as many workers as that many flops in total are worth. The
// calls must be independent, because their assignment to workers is arbitrary.
func (n *Nest) Each(flops float64, tasks int, f func(i int)) {
	if workers := min(n.WorkersFor(flops), tasks); workers > 1 {
		new(crew).run(workers, tasks, f)
		return
	}
	for i := range tasks {
		f(i)
	}
}

// EachBlock calls f for the blocks [lo, hi) of the given size that make up [0, total), on all
// workers.
func (n *Nest) EachBlock(total, size int, f func(lo, hi int)) {
	n.Each(math.Inf(1), blocks(total, size), func(i int) { f(i*size, min((i+1)*size, total)) })
}

// crew distributes numbered tasks to goroutines.
type crew struct {
	next atomic.Int64
}

// run calls f for all tasks on the given number of goroutines, including this one, and waits.
func (c *crew) run(workers, tasks int, f func(i int)) {
	if forks.Observed(workers, tasks, f) {
		return
	}
	c.next.Store(0)
	panics.Run(workers, func() { c.drain(tasks, f) })
}

func (c *crew) drain(tasks int, f func(i int)) {
	for i := int(c.next.Add(1)) - 1; i < tasks; i = int(c.next.Add(1)) - 1 {
		f(i)
	}
}

// span returns the bounds of block b of k.
func (j *job) span(b int) (l0, l1 int) { return b * j.depth, min((b+1)*j.depth, j.k) }

// panels returns the packed columns of B in block b of k, and its depth.
func (j *job) panels(b int) (packed []float64, depth int) {
	l0, l1 := j.span(b)
	return (*j.packed)[(b-j.b0)*j.width*j.depth:], l1 - l0
}

// packPanels is the number of panels of B that one task packs.
const packPanels = 8

// packTask packs panels of B in one block of k.
func (j *job) packTask(i int) {
	cols := packPanels * j.t.NR
	parts := blocks(j.j1-j.j0, cols)
	b := j.b0 + i/parts
	l0, l1 := j.span(b)
	packed, depth := j.panels(b)
	c0 := j.j0 + i%parts*cols
	j.packOperand(packed[(c0-j.j0)*depth:], j.t.NR, &j.B, j.B.Trans, c0, min(c0+cols, j.j1), l0, l1)
}

// packOperand packs lanes [i0, i1) and depths [l0, l1) of an operand.
func (j *job) packOperand(dst []float64, width int, o *Operand, byRow bool, i0, i1, l0, l1 int) {
	if o.Symmetric {
		packSymmetric(j.t, dst, width, o.Matrix, i0, i1, l0, l1)
	} else {
		Pack(j.t, dst, width, width*(l1-l0), o.Matrix, byRow, i0, i1, l0, l1)
	}
}

// multiplyTask multiplies a block of rows of A by a chunk of the packed columns of B, over all
// packed blocks of k.
func (j *job) multiplyTask(i int) {
	chunks := blocks(j.j1-j.j0, j.chunk)
	i0 := i / chunks * j.rows
	if j.Lower { // the longest rows first
		i0 = (blocks(j.C.Rows, j.rows) - 1 - i/chunks) * j.rows
	}
	i1 := min(i0+j.rows, j.C.Rows)
	c0 := j.j0 + i%chunks*j.chunk
	c1 := min(c0+j.chunk, j.j1)
	if j.Lower && c0 >= i1 {
		return
	}
	size := j.t.MR * j.t.NR
	scratch := j.nest.Borrow(size + j.rows*j.depth)
	tile, pa := (*scratch)[:size], (*scratch)[size:]
	for b := j.b0; b < j.b1; b++ {
		l0, l1 := j.span(b)
		packed, depth := j.panels(b)
		j.packOperand(pa, j.t.MR, &j.A, !j.A.Trans, i0, i1, l0, l1)
		s := sweep{job: j, depth: depth, beta: 1, tile: tile, i1: i1, j1: c1}
		if b == 0 {
			s.beta = j.Beta
		}
		s.tiles(pa, packed[(c0-j.j0)*depth:], i0, c0)
	}
	j.nest.Return(scratch)
}

// sweep is one pass of the tile over a block of C.
type sweep struct {
	*job
	depth  int
	beta   float64
	tile   []float64 // scratch for tiles that cannot be stored directly
	i1, j1 int       // the ends of the block
}

// tiles multiplies the packed panels into the block of C that starts at (i0, j0). A panel of B
// stays in the first-level cache while the panels of A are read one after the other.
func (s *sweep) tiles(pa, pb []float64, i0, j0 int) {
	mr, nr, stride := s.t.MR, s.t.NR, s.C.Stride
	for j := j0; j < s.j1; j += nr {
		panelB := pb[(j-j0)*s.depth:][:nr*s.depth]
		i := i0
		if s.Lower && j > i0 { // above the diagonal
			i += (j - i0) / mr * mr
		}
		for ; i < s.i1; i += mr {
			panelA := pa[(i-i0)*s.depth:][:mr*s.depth]
			if i+mr <= s.i1 && j+nr <= s.j1 && !(s.Lower && j+nr-1 > i) {
				s.t.TileTo(s.depth, s.Alpha, s.beta, panelA, panelB, s.C.Data[i*stride+j:], stride)
				continue
			}
			s.partial(panelA, panelB, i, j, min(mr, s.i1-i), min(nr, s.j1-j))
		}
	}
}

// partial computes a tile in scratch memory: one at an edge or across the diagonal. The same kernel
// computes it, so it is bit-identical to a whole tile.
func (s *sweep) partial(panelA, panelB []float64, i, j, rows, cols int) {
	nr := s.t.NR
	if s.beta != 0 {
		for r := range rows {
			copy(s.tile[r*nr:], s.row(i+r, j, cols))
		}
	}
	s.t.TileTo(s.depth, s.Alpha, s.beta, panelA, panelB, s.tile, nr)
	for r := range rows {
		copy(s.row(i+r, j, cols), s.tile[r*nr:])
	}
}

// row returns the part of row i of C that a tile of cols columns from j on may access.
func (s *sweep) row(i, j, cols int) []float64 {
	if s.Lower {
		cols = min(cols, i+1-j)
	}
	if cols <= 0 {
		return nil
	}
	return s.C.Data[i*s.C.Stride+j:][:cols]
}
