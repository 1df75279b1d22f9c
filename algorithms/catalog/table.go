package catalog

import (
	"sync"

	"github.com/mustlink/mustlink/algorithms/baseline"
	"github.com/mustlink/mustlink/algorithms/baseline/itml"
	"github.com/mustlink/mustlink/algorithms/baseline/nonlinear"
	"github.com/mustlink/mustlink/algorithms/blend"
	"github.com/mustlink/mustlink/algorithms/forest"
	"github.com/mustlink/mustlink/algorithms/gml"
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
		of[baseline.RCA](baseline.DecodeRCA),
		of[baseline.XRCA](baseline.DecodeXRCA),
		of[baseline.DCA](baseline.DecodeDCA),
		of[itml.Params](itml.Decode),
		of[baseline.MMC](baseline.DecodeMMC),
		of[baseline.LMNN](baseline.DecodeLMNN),
		of[baseline.NCA](baseline.DecodeNCA),
		of[baseline.LSML](baseline.DecodeLSML),
		of[baseline.SCML](baseline.DecodeSCML),
		of[baseline.LFDA](baseline.DecodeLFDA),
		of[baseline.SDML](baseline.DecodeSDML),
		of[baseline.MLKR](baseline.DecodeMLKR),
		of[baseline.Covariance](baseline.DecodeCovariance),
		of[baseline.Raw](baseline.DecodeRaw),
		of[baseline.Xiang](baseline.DecodeXiang),
		of[nonlinear.Klein](nonlinear.DecodeKlein),
		of[nonlinear.LLMA](nonlinear.DecodeLLMA),
		of[nonlinear.Spectral](nonlinear.DecodeSpectral),
		of[nonlinear.KPCA](nonlinear.DecodeKPCA),
		of[nonlinear.CMVU](nonlinear.DecodeCMVU),
		of[nonlinear.NPK](nonlinear.DecodeNPK),
		of[nonlinear.SimpleNPKL](nonlinear.DecodeSimpleNPKL),
		of[nonlinear.SDPLR](nonlinear.DecodeSDPLR),
	}
})
