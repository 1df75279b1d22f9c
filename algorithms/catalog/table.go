package catalog

import (
	"sync"

	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/baseline/itml"
	"github.com/mustlink/mustlink/algorithms/baseline/nonlinear"
	"github.com/mustlink/mustlink/algorithms/blend"
	"github.com/mustlink/mustlink/algorithms/forest"
	"github.com/mustlink/mustlink/algorithms/gml"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/outofsample"
	"github.com/mustlink/mustlink/algorithms/kbeta"
	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/algorithms/lleratio"
	"github.com/mustlink/mustlink/algorithms/npkl"
	"github.com/mustlink/mustlink/algorithms/parts"
)

// methods returns the table in the order of display. It is made once and never changes.
var methods = sync.OnceValue(func() []Method {
	return []Method{
		of[krca.Params](krca.Decode),
		of[kbeta.Params](kbeta.Decode),
		of[npkl.Params](npkl.Decode),
		of[lleratio.Params](lleratio.Decode),
		of[gml.Params](gml.Decode),
		of[blend.Params](blend.Decode),
		of[parts.Params](parts.Decode),
		of[forest.Params](forest.Decode),
		mapped[baseline.RCA](fitted.ReadLinear),
		mapped[baseline.XRCA](fitted.ReadLinear),
		mapped[baseline.Adapt](fitted.ReadAveraged),
		mapped[baseline.DCA](fitted.ReadEither),
		of[itml.Params](itml.Decode),
		traced[baseline.MMC](),
		traced[baseline.LMNN](),
		traced[baseline.NCA](),
		traced[baseline.LSML](),
		traced[baseline.SCML](),
		mapped[baseline.LFDA](fitted.ReadLinear),
		traced[baseline.SDML](),
		traced[baseline.MLKR](),
		mapped[baseline.Covariance](fitted.ReadLinear),
		of[baseline.Raw](baseline.DecodeRaw),
		mapped[baseline.Xiang](fitted.ReadLinear),
		mapped[nonlinear.Klein](outofsample.ReadBarycentric),
		of[nonlinear.LLMA](nonlinear.DecodeLLMA),
		of[nonlinear.Spectral](nonlinear.DecodeSpectral),
		of[nonlinear.KPCA](nonlinear.DecodeKPCA),
		of[nonlinear.CMVU](nonlinear.DecodeCMVU),
		onGraph[nonlinear.NPK](),
		onGraph[nonlinear.SimpleNPKL](),
		onGraph[nonlinear.SDPLR](),
	}
})
