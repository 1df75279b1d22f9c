package nonlinear

import (
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fittest"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/param"
)

// TestFailures: what fails on the way fails a fit and an embedding, with its error.
func TestFailures(t *testing.T) {
	x, _, set := enginetest.Blobs(t, 24, 3, 6, 2)
	for _, l := range []algorithms.Learner{
		CMVULearner{Params: param.Default[CMVU]()},
		KleinLearner{Params: param.Default[Klein]()},
		KPCALearner{Params: param.Default[KPCA]()},
		LLMALearner{Params: param.Default[LLMA]()},
		SDPLRLearner{Params: param.Default[SDPLR]()},
		SimpleNPKLLearner{Params: param.Default[SimpleNPKL]()},
		SpectralLearner{Params: param.Default[Spectral]()},
	} {
		fittest.Fails(t, l, x, set, 12, "(*program).normal", "(*sdpSearch)")
	}
}
