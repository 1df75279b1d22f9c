// Package enginetest (engine room: may change) provides engines, kernels, points, links and
// reference implementations for tests.
package enginetest

import (
	"cmp"
	"os"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
)

// Fataler is a test of package testing, or a property test with random inputs.
type Fataler interface {
	Helper()
	Fatal(...any)
}

// New returns an engine with the given number of workers, 0 for all processors.
func New(t Fataler, workers int) *engine.Engine {
	t.Helper()
	return With(t, engine.Options{Workers: workers})
}

// With returns an engine with these options; the default backend is that of MUSTLINK_BACKEND, or
// else that of the build.
func With(t Fataler, o engine.Options) *engine.Engine {
	t.Helper()
	if o.Backend == nil {
		o.Backend = Backend(t, os.Getenv("MUSTLINK_BACKEND"), o.Workers)
	}
	eng, err := engine.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return eng
}

// Backend returns the named backend, "" for that of the build, with the vector kernels of
// MUSTLINK_SIMD. OpenBLAS always has two threads, as its rounding depends on their number.
func Backend(t Fataler, name string, workers int) blas.Backend {
	t.Helper()
	name, threads := cmp.Or(name, backends.Default()), workers
	if name == "netlib" {
		threads = 2
	}
	b, err := backends.Open(backends.Options{Name: name, SIMD: os.Getenv("MUSTLINK_SIMD"), Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
