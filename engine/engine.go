// Package engine (internal: may change) provides what every method runs on: a linear algebra
// backend, a pool of workers with fixed partitioning, reusable scratch matrices and a memory limit.
//
// The engine decides how work runs, never what is computed: results are bit-identical for any
// number of workers.
package engine

import (
	"runtime"

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

// Cache returns the cache, nil for none.
func (e *Engine) Cache() *Cache { return e.cache }
