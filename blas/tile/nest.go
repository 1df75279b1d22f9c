package tile

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/mustlink/mustlink/asm"
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
	c.next.Store(0)
	panics.Run(workers, func() { c.drain(tasks, f) })
}

func (c *crew) drain(tasks int, f func(i int)) {
	for i := int(c.next.Add(1)) - 1; i < tasks; i = int(c.next.Add(1)) - 1 {
		f(i)
	}
}
