// Package engine (engine room: may change) provides what every method runs on: a linear algebra
// backend, a pool of workers with fixed partitioning, reusable scratch matrices and a memory limit.
//
// The engine decides how work runs, never what is computed: results are bit-identical for any
// number of workers.
package engine

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"runtime"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/hugepages"
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
	cache   *Cache
}

// New returns an engine. A negative number of workers or limit is a *fault.ParamError.
func New(o Options) (*Engine, error) {
	if o.Workers < 0 {
		return nil, &fault.ParamError{Param: "workers", Value: o.Workers,
			Want: "a number >= 0 (0 for all processors)"}
	}
	if o.MemoryLimit < 0 {
		return nil, &fault.ParamError{Param: "memory limit", Value: o.MemoryLimit,
			Want: "a number of bytes >= 0 (0 for no limit)"}
	}
	e := &Engine{backend: o.Backend, workers: o.Workers, limit: o.MemoryLimit, cache: o.Cache}
	if e.workers == 0 {
		e.workers = runtime.GOMAXPROCS(0)
	}
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
		return nil, &fault.ParamError{Param: "parts", Value: parts, Want: "a number >= 1"}
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
	return New(Options{Backend: e.backend, Workers: e.workers, MemoryLimit: e.limit, Cache: c})
}

// Backend returns the linear algebra backend.
func (e *Engine) Backend() blas.Backend { return e.backend }

// Workers returns the number of goroutines that share the work, at least 1.
func (e *Engine) Workers() int { return e.workers }

// MemoryLimit returns the limit of one request in bytes, 0 for none.
func (e *Engine) MemoryLimit() int64 { return e.limit }

// Cache returns the cache, nil for none.
func (e *Engine) Cache() *Cache { return e.cache }

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
	return &fault.MemoryError{What: what, Need: bytes, Limit: e.bound(), Hint: hint}
}

// Allows reports whether Check lets a request pass, for callers that name it only if it does not.
func (e *Engine) Allows(bytes int64) bool { return 0 <= bytes && bytes <= e.bound() }

// bound returns the largest request that Check lets pass.
func (e *Engine) bound() int64 {
	if e.limit > 0 && e.limit < addressable {
		return e.limit
	}
	return addressable
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

// clearBlock is the number of values that a task clears: many times the cost of waking a worker.
const clearBlock = 1 << 18

// NewMatrix returns a rows x cols matrix of zeros, compact. On Linux a matrix of 4 MiB and more
// asks for huge pages, which makes its first touch several times faster, and all workers clear it.
// It does not check the memory limit; see [Engine.Check]. For a matrix that the caller fills,
// [Engine.UnclearedMatrix] takes less time.
func (e *Engine) NewMatrix(rows, cols int) blas.Matrix {
	m := e.UnclearedMatrix(rows, cols)
	if len(m.Data) >= hugepages.Large {
		// Without a cancel it cannot fail.
		_ = e.For(context.Background(), len(m.Data), clearBlock, func(lo, hi int) error {
			clear(m.Data[lo:hi])
			return nil
		})
	}
	return m
}

// UnclearedMatrix is [Engine.NewMatrix] with undefined contents: every element must be written
// before it is read.
func (e *Engine) UnclearedMatrix(rows, cols int) blas.Matrix {
	if rows*cols < hugepages.Large {
		return blas.NewMatrix(rows, cols)
	}
	return blas.MatrixOf(rows, cols, hugepages.Floats(rows*cols))
}

// Clone returns a compact copy of m, which all workers make. It does not check the memory limit.
func (e *Engine) Clone(m blas.Matrix) blas.Matrix {
	out := e.UnclearedMatrix(m.Rows, m.Cols)
	e.Copy(out, m)
	return out
}

// Copy copies src, which must have the same shape, into dst, on all workers.
func (e *Engine) Copy(dst, src blas.Matrix) {
	if dst.Rows != src.Rows || dst.Cols != src.Cols {
		panic("engine: Copy: shapes differ")
	}
	block := max(1, clearBlock/max(1, src.Cols))
	_ = e.For(context.Background(), src.Rows, block, func(lo, hi int) error { // see NewMatrix
		dst.View(lo, hi, 0, dst.Cols).CopyFrom(src.View(lo, hi, 0, src.Cols))
		return nil
	})
}

// mirrorRows is the number of rows or columns that a task of Mirror or Transposed copies.
const mirrorRows = 64

// Transposed returns the transpose of m, compact. It does not check the memory limit.
func (e *Engine) Transposed(m blas.Matrix) blas.Matrix {
	out := e.UnclearedMatrix(m.Cols, m.Rows)
	_ = e.For(context.Background(), m.Cols, mirrorRows, func(lo, hi int) error { // see NewMatrix
		m.View(0, m.Rows, lo, hi).TransposeTo(out.View(lo, hi, 0, m.Rows))
		return nil
	})
	return out
}

// Mirror copies the lower triangle of a square m to the upper one, on all workers.
func (e *Engine) Mirror(m blas.Matrix) {
	// The last rows are the longest, so they come first. Without a cancel it cannot fail.
	_ = e.For(context.Background(), m.Rows, mirrorRows, func(lo, hi int) error {
		m.MirrorRows(m.Rows-hi, m.Rows-lo)
		return nil
	})
}

// Cholesky calls the backend's Cholesky unless ctx is done. A cancel during the factorization takes
// effect after it. Cost: n^3/3 flops. A matrix that is not positive definite is a
// *blas.NotPositiveDefiniteError.
func (e *Engine) Cholesky(ctx context.Context, a blas.Matrix) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := e.backend.Cholesky(a); err != nil {
		return err
	}
	return ctx.Err()
}

// SymEig calls the backend's SymEig after two checks: ctx is not done, and the workspace of the
// divide and conquer method (2n^2 values with vectors) is within the memory limit. A cancel during
// the decomposition takes effect after it.
func (e *Engine) SymEig(ctx context.Context, a blas.Matrix, w []float64, vectors bool) error {
	order := 0
	if vectors {
		order = a.Rows
	}
	if err := e.checkEigen(ctx, order); err != nil {
		return err
	}
	if err := e.backend.SymEig(a, w, vectors); err != nil {
		return err
	}
	return ctx.Err()
}

// SymEigTop returns the k largest eigenvalues of A, in descending order, and their unit
// eigenvectors as rows; all for k = 0 and above the order. It is the backend's SymEigTop after the
// checks of [Engine.SymEig], and the contents of A are lost. Errors: a *fault.MemoryError,
// ctx.Err(), and the backend's own.
func (e *Engine) SymEigTop(ctx context.Context, a blas.Matrix,
	k int) (w []float64, v blas.Matrix, err error) {
	if err := e.checkEigen(ctx, a.Rows); err != nil {
		return nil, v, err
	}
	if k == 0 || k > a.Rows {
		k = a.Rows
	}
	w, v = make([]float64, k), e.UnclearedMatrix(k, a.Rows)
	if err := e.backend.SymEigTop(a, w, v); err != nil {
		return nil, blas.Matrix{}, err
	}
	return w, v, ctx.Err()
}

// checkEigen checks ctx and the memory of an eigendecomposition with vectors of order n.
func (e *Engine) checkEigen(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	bytes := MatrixBytes(n, n)
	if bytes < addressable { // otherwise Check refuses it anyway, and doubling would overflow
		bytes *= 2
	}
	return e.Check(fmt.Sprintf("eigendecomposition of order %d", n), bytes,
		"use fewer points or landmarks, or raise the memory limit")
}
