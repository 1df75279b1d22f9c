package graphkernel_test

import (
	"testing"

	"github.com/mustlink/mustlink/algorithms/baseline/nonlinear"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/param"
)

// TestFailures: what fails on the way fails a fit and an embedding, with its error.
func TestFailures(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 24, 3, 6, 2)
	fittest.Fails(t, nonlinear.NPKLearner{Params: param.Default[nonlinear.NPK]()}, x, set, 60,
		"(*sdpSearch)", "(*program).normal")
}
