package kbeta_test

import (
	"testing"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/algorithms/kbeta"
	"github.com/mustlink/mustlink/engine/enginetest"
)

// TestFailures: what fails on the way fails a fit and an embedding, with its error.
func TestFailures(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 24, 3, 6, 2)
	fittest.Fails(t, kbeta.Learner{Params: kbeta.DefaultParams()}, x, set, 60)
}
