package gml

import (
	"testing"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/engine/enginetest"
)

// TestFailures: what fails on the way fails a fit and an embedding, with its error.
func TestFailures(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 24, 3, 6, 2)
	for _, prior := range []Prior{RBF, Spectral, DataDep} {
		fittest.Fails(t, of(prior), x, set, 60)
	}
}
