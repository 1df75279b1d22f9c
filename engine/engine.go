// Package engine (internal: may change) provides what every method runs on: a linear algebra
// backend, a pool of workers with fixed partitioning, reusable scratch matrices and a memory limit.
//
// The engine decides how work runs, never what is computed: results are bit-identical for any
// number of workers.
package engine

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine/fault"
)

// Options configures an [Engine]. The zero value is sensible.
type Options struct {
	// Backend does the linear algebra; nil opens the default of the build, with as many
	// threads as there are workers.
	Backend blas.Backend
	// Workers is the number of goroutines that share the work, 0 for GOMAXPROCS.
	Workers int
	// MemoryLimit is the largest request, in bytes, that Check lets pass; 0 for none.
	MemoryLimit int64
	// Held counts the bytes that the caller keeps apart from requests, such as the tables it has read;
	// nil for none. Together with them a request is at most seven quarters of the limit, which leaves
	// the last quarter of twice the limit to garbage and buffers.
	Held *atomic.Int64
	// Cache keeps values that fits on the same points share; nil for none. The rounding of OpenBLAS
	// depends on its number of threads, so engines that share a cache should give OpenBLAS the same
	// number.
	Cache *Cache
}

// Engine is immutable, apart from the contents of its cache, and safe for concurrent use. All
// engines of a process share their scratch memory.
type Engine struct {
	backend blas.Backend
	workers int
	limit   int64
	held    *atomic.Int64
	cache   *Cache
}

// New returns an engine. A negative number of workers or limit is a *fault.ParamError.
func New(o Options) (*Engine, error) {
	if o.Workers < 0 {
		return nil, fault.Param("workers", o.Workers, "a number >= 0 (0 for all processors)")
	}
	if o.MemoryLimit < 0 {
		return nil, fault.Param("memory limit", o.MemoryLimit, "a number of bytes >= 0 (0 for no limit)")
	}
	e := &Engine{backend: o.Backend, workers: cmp.Or(o.Workers, runtime.GOMAXPROCS(0)), limit: o.MemoryLimit,
		held: o.Held, cache: o.Cache}
	if e.backend == nil {
		b, err := backends.Open(backends.Options{Threads: e.workers})
		if err != nil {
			return nil, err
		}
		e.backend = b
	}
	return e, nil
}

// Share returns an engine for each of several concurrent jobs: the same backend, the same cache,
// and an equal part of the workers and of the memory limit. For one part it returns the engine
// itself; fewer than one is a *fault.ParamError.
func (e *Engine) Share(parts int) (*Engine, error) {
	if parts < 1 {
		return nil, fault.Param("parts", parts, "a number >= 1")
	}
	if parts == 1 {
		return e, nil
	}
	limit := e.limit
	if limit > 0 { // 0 is no limit, so a part must not become 0
		limit = max(1, limit/int64(parts))
	}
	return New(Options{Backend: e.backend, Workers: max(1, e.workers/parts), MemoryLimit: limit,
		Cache: e.cache})
}

// WithCache returns an engine with another cache, nil for none, and the same backend, workers and
// limit. Errors are those of [New].
func (e *Engine) WithCache(c *Cache) (*Engine, error) {
	return New(Options{Backend: e.backend, Workers: e.workers, MemoryLimit: e.limit, Held: e.held, Cache: c})
}

// Backend returns the linear algebra backend.
func (e *Engine) Backend() blas.Backend { return e.backend }

// Workers returns the number of goroutines that share the work, at least 1.
func (e *Engine) Workers() int { return e.workers }

// Cache returns the cache, nil for none.
func (e *Engine) Cache() *Cache { return e.cache }

// MemoryLimit returns the limit of one request in bytes, 0 for none.
func (e *Engine) MemoryLimit() int64 { return e.limit }

// addressable bounds every request, with or without a limit: a process can address 2^47 bytes on
// amd64 and arm64. A larger allocation would panic instead of failing.
const addressable = int64(1) << 47

// Check returns a *fault.MemoryError when bytes exceed the memory limit (or what a process can
// address), and nil otherwise. Call it before allocating.
//
// what names the request ("kernel matrix 50000 x 50000"), hint says what to do ("use landmarks"). A
// negative count is a sign of overflow in the caller's arithmetic and is refused too.
func (e *Engine) Check(what string, bytes int64, hint string) error {
	if e.Allows(bytes) {
		return nil
	}
	if bytes < 0 {
		bytes = math.MaxInt64
	}
	bound := e.bound()
	if bytes <= e.limit { // alone it would pass
		what += fmt.Sprintf(" next to %s of data in memory", fault.FormatBytes(e.held.Load()))
	}
	return &fault.MemoryError{What: what, Need: bytes, Limit: bound, Hint: hint}
}

// Allows reports whether Check lets a request pass, for callers that name it only if it does not.
func (e *Engine) Allows(bytes int64) bool { return 0 <= bytes && bytes <= e.bound() }

// bound returns the largest request that Check lets pass.
func (e *Engine) bound() int64 {
	if e.limit == 0 || e.limit >= addressable {
		return addressable
	}
	if e.held == nil {
		return e.limit
	}
	return max(0, min(e.limit, e.limit+e.limit/4*3-e.held.Load()))
}

// MatrixBytes returns the size of a rows x cols matrix of float64 values, or math.MaxInt64 if the
// size overflows. rows, cols >= 0.
func MatrixBytes(rows, cols int) int64 {
	hi, lo := bits.Mul64(uint64(rows), uint64(cols))
	if hi != 0 || lo > math.MaxInt64/8 {
		return math.MaxInt64
	}
	return int64(lo) * 8
}

// Scratch memory belongs to the process, not to an engine: a buffer has neither workers nor a
// limit, and an engine that a model keeps for its distances keeps no memory alive.
//
// Buffers of up to smallScratch values, those of small fits, are in sync.Pools by powers of two.
// Each processor has its own, so that fits on many goroutines take no lock, and the garbage
// collector takes those that nobody has used lately. Larger ones are in a list under a mutex,
// because its size is bounded in bytes and matrices are found by size.

// smallClasses is the number of sizes of small buffers, and smallScratch the number of values of
// the largest, 256 kB.
const (
	smallClasses = 16
	smallScratch = 1 << (smallClasses - 1)
)

var (
	smallBuffers [smallClasses]sync.Pool // of *float64, the first of 1 << i values
	largeBuffers scratchList
)

// GetMatrix returns a rows x cols scratch matrix, compact, with undefined contents: every element
// must be written before it is read. Return it with [Engine.PutMatrix]; the garbage collector takes
// those that are not returned. GetMatrix does not check the memory limit.
func (e *Engine) GetMatrix(rows, cols int) blas.Matrix {
	if rows < 0 || cols < 0 {
		panic("engine: negative dimension")
	}
	var data []float64
	switch n := rows * cols; {
	case n > smallScratch:
		data = largeBuffers.take(n)
	case n > 0:
		data = takeSmall(n)
	}
	if data == nil {
		return e.UnclearedMatrix(rows, cols)
	}
	return blas.MatrixOf(rows, cols, data)
}

// PutMatrix returns a matrix that came from [Engine.GetMatrix] (not a view of one). The
// caller must not use it afterwards.
func (e *Engine) PutMatrix(m blas.Matrix) {
	if n := cap(m.Data); n > smallScratch {
		largeBuffers.give(m.Data, e.kept())
	} else if n > 0 {
		smallBuffers[bits.Len(uint(n))-1].Put(unsafe.SliceData(m.Data))
	}
}

// kept returns the bytes of large buffers that the process may keep for the engine: an eighth of
// its limit at most, since no request counts them.
func (e *Engine) kept() int {
	if e.limit > 0 {
		return int(min(scratchBytes, e.limit/8))
	}
	return scratchBytes
}

// takeSmall returns a buffer of n values, 1 to smallScratch.
func takeSmall(n int) []float64 {
	class := bits.Len(uint(n - 1))
	if first, is := smallBuffers[class].Get().(*float64); is {
		return unsafe.Slice(first, 1<<class)[:n]
	}
	return make([]float64, n, 1<<class)
}

// Bounds of the list of large buffers: beyond them the oldest ones go to the garbage collector.
const (
	scratchBuffers = 32
	scratchBytes   = 256 << 20
)

// scratchList keeps returned buffers, oldest first.
type scratchList struct {
	mu    sync.Mutex
	free  [][]float64
	bytes int
}

// take removes the smallest buffer that holds n values without wasting more than three
// quarters of it, or returns nil.
func (p *scratchList) take(n int) []float64 {
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

// give returns a buffer to the list, which keeps the latest of up to most bytes.
func (p *scratchList) give(b []float64, most int) {
	size := 8 * cap(b)
	if size > most {
		if size > scratchBytes {
			// Without an explicit collection, as much memory again could be allocated before this is
			// freed.
			b = nil
			runtime.GC()
		}
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	drop := 0
	for len(p.free)-drop >= scratchBuffers || p.bytes+size > most {
		p.bytes -= 8 * cap(p.free[drop])
		drop++
	}
	p.free = append(slices.Delete(p.free, 0, drop), b[:0])
	p.bytes += size
}
