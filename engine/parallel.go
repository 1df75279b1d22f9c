package engine

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/mustlink/mustlink/internal/forks"
	"github.com/mustlink/mustlink/internal/panics"
)

// Panic is the value with which [Engine.For] panics after a block has panicked: the block's own
// value and the stack of the worker that ran it.
type Panic = panics.Panic

// For calls f(lo, hi) for the blocks [0, block), [block, 2 block), … of [0, n), the last one
// shorter, each exactly once, on up to Workers goroutines; all have ended when it returns.
//
// The blocks depend only on n and block, never on the number of workers. If each block writes to
// its own part of the result and the caller reduces in block order, the result is bit-identical for
// any number of workers.
//
// For checks ctx before each block and returns ctx.Err() when it is done. After a failure no new
// block starts, and For returns the error of the lowest failing block, whatever the order in which
// they ran. A panic in a block counts as its failure and is raised again on the calling goroutine
// as a *[Panic]. For panics if block < 1.
func (e *Engine) For(ctx context.Context, n, block int, f func(lo, hi int) error) error {
	return e.run(work{ctx: ctx, n: n, block: block, f: f})
}

// Each calls f(i) for each i of [0, n), in blocks as [Engine.For] does, for work that cannot fail.
func (e *Engine) Each(ctx context.Context, n, block int, f func(i int)) error {
	return e.run(work{ctx: ctx, n: n, block: block, each: f})
}

// run does the work of a call of For. The loop of a single worker stays on its stack.
func (e *Engine) run(w work) error {
	if w.block < 1 {
		panic("engine: For: block < 1")
	}
	if err := w.ctx.Err(); err != nil || w.n <= 0 {
		return err
	}
	w.blocks = (w.n-1)/w.block + 1
	if workers := min(e.workers, w.blocks); workers > 1 {
		return parallel(workers, w)
	}
	l := loop{work: w}
	l.run()
	return l.result()
}

// parallel does the work on so many goroutines.
func parallel(workers int, w work) error {
	l := &loop{work: w, mu: new(sync.Mutex)}
	if forks.Observed(workers, w.blocks, func(int) { l.step() }) {
		return l.result()
	}
	var wg sync.WaitGroup
	faults := panics.Faults()
	for range workers {
		wg.Go(func() {
			faults()
			l.run()
		})
	}
	wg.Wait()
	return l.result()
}

// work is what a call of For or Each asks for.
type work struct {
	ctx              context.Context
	n, block, blocks int
	f                func(lo, hi int) error // either this
	each             func(i int)            // or this is called
}

// loop is one call of For. Blocks start in ascending order: when a block fails, all lower ones have
// started, so the lowest failure is well defined.
type loop struct {
	work
	next atomic.Int64
	stop atomic.Bool

	mu     *sync.Mutex // nil for a single worker
	failed bool
	lowest int // block of the failure below, if failed
	err    error
	panic  *Panic
}

// run takes blocks until there are none, a block has failed or the context is done.
func (l *loop) run() {
	for l.step() {
	}
}

// step runs the next block, and returns false if there is none to run.
func (l *loop) step() bool {
	if l.stop.Load() {
		return false
	}
	b := int(l.next.Add(1)) - 1
	if b >= l.blocks {
		return false
	}
	if err := l.ctx.Err(); err != nil {
		l.fail(b, err, nil)
		return false
	}
	l.one(b)
	return true
}

// one runs block b and records its failure, if any.
func (l *loop) one(b int) {
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover()
		if v == nil {
			v = "engine: For: a block called runtime.Goexit"
		}
		l.fail(b, nil, panics.Recovered(v))
	}()
	lo := b * l.block
	err, hi := error(nil), lo+min(l.block, l.n-lo)
	if l.each == nil {
		err = l.f(lo, hi)
	} else {
		for i := lo; i < hi; i++ {
			l.each(i)
		}
	}
	returned = true
	if err != nil {
		l.fail(b, err, nil)
	}
}

func (l *loop) fail(b int, err error, p *Panic) {
	l.stop.Store(true)
	if l.mu != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
	}
	if !l.failed || b < l.lowest {
		l.failed, l.lowest, l.err, l.panic = true, b, err, p
	}
}

func (l *loop) result() error {
	if l.panic != nil {
		panic(l.panic)
	}
	return l.err
}
