package krca

import (
	"testing"

	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/engine/enginetest"
)

// TestFailures: what fails on the way fails a fit and an embedding, with its error.
func TestFailures(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 24, 3, 6, 2)
	for _, text := range []string{"linear", "rbf:sigma=2"} {
		fittest.Fails(t, Learner{Params: DefaultParams(), Kernel: enginetest.Spec(t, text)}, x, set, 40,
			"(*metric).solve", "(*metric).scaleResidual", "(*metric).weighted")
	}
}
