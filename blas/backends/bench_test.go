package backends

import (
	"testing"

	"github.com/mustlink/mustlink/blas/internal/blastest"
)

// Benchmark runs every backend of the build: with -tags netlib, all three side by side.
func Benchmark(b *testing.B) {
	for _, name := range Names() {
		backend, err := Open(Options{Name: name})
		if err != nil {
			b.Fatal(err)
		}
		blastest.Bench(b, backend)
	}
}
