// Package enginetest (engine room: may change) makes engines, references and sets of points for
// tests.
package enginetest

import (
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
)

// Fataler is a test, of the testing package or one with drawn inputs.
type Fataler interface {
	Helper()
	Fatal(...any)
}

// New returns an engine of the build's own backend that shares the work among workers, 0 for all
// processors. OpenBLAS, whose bits depend on its number of threads, has two of them whatever the workers.
func New(t Fataler, workers int) *engine.Engine {
	t.Helper()
	threads := workers
	if backends.Default() == "netlib" {
		threads = 2
	}
	b, err := backends.Open(backends.Options{Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	eng, err := engine.New(engine.Options{Workers: workers, Backend: b})
	if err != nil {
		t.Fatal(err)
	}
	return eng
}
