package baseline

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
		AdaptLearner{Params: param.Default[Adapt]()},
		DCALearner{Params: param.Default[DCA]()},
		XiangLearner{Params: param.Default[Xiang]()},
		LFDALearner{Params: param.Default[LFDA]()},
		LMNNLearner{Params: param.Default[LMNN]()},
		MMCLearner{Params: param.Default[MMC]()},
		NCALearner{Params: param.Default[NCA]()},
		RCALearner{Params: param.Default[RCA]()},
		SDMLLearner{Params: param.Default[SDML]()},
		XRCALearner{Params: param.Default[XRCA]()},
	} {
		fittest.Fails(t, l, x, set, 12, "(*mmcProblem).newton", "MMC.full", "(*search).nullSpace")
	}
}
