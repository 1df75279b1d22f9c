// Package enginetest (engine room: may change) makes engines, kernels, points, links and references
// for tests.
package enginetest

import (
	"cmp"
	"os"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
)

// Fataler is a test, of the testing package or one with drawn inputs.
type Fataler interface {
	Helper()
	Fatal(...any)
}

// New returns an engine of so many workers, 0 for all processors.
func New(t Fataler, workers int) *engine.Engine {
	t.Helper()
	return With(t, engine.Options{Workers: workers})
}

// With returns an engine of these options; without a backend it has that of MUSTLINK_BACKEND, or
// else the build's own.
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

// Backend returns the backend of that name, "" for the build's own, on the kernels of
// MUSTLINK_SIMD. OpenBLAS, whose bits depend on its number of threads, has two of them whatever the
// workers.
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
