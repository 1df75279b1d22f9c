package catalog

import (
	"sync"

	"github.com/mustlink/mustlink/algorithms/baseline/cmvu"
	"github.com/mustlink/mustlink/algorithms/baseline/covariance"
	"github.com/mustlink/mustlink/algorithms/baseline/dca"
	"github.com/mustlink/mustlink/algorithms/baseline/itml"
	"github.com/mustlink/mustlink/algorithms/baseline/klein"
	"github.com/mustlink/mustlink/algorithms/baseline/kpca"
	"github.com/mustlink/mustlink/algorithms/baseline/lfda"
	"github.com/mustlink/mustlink/algorithms/baseline/llma"
	"github.com/mustlink/mustlink/algorithms/baseline/lmnn"
	"github.com/mustlink/mustlink/algorithms/baseline/lsml"
	"github.com/mustlink/mustlink/algorithms/baseline/mlkr"
	"github.com/mustlink/mustlink/algorithms/baseline/mmc"
	"github.com/mustlink/mustlink/algorithms/baseline/nca"
	"github.com/mustlink/mustlink/algorithms/baseline/npk"
	"github.com/mustlink/mustlink/algorithms/baseline/raw"
	"github.com/mustlink/mustlink/algorithms/baseline/rca"
	"github.com/mustlink/mustlink/algorithms/baseline/scml"
	"github.com/mustlink/mustlink/algorithms/baseline/sdml"
	"github.com/mustlink/mustlink/algorithms/baseline/sdplr"
	"github.com/mustlink/mustlink/algorithms/baseline/simplenpkl"
	"github.com/mustlink/mustlink/algorithms/baseline/spectral"
	"github.com/mustlink/mustlink/algorithms/baseline/xiang"
	"github.com/mustlink/mustlink/algorithms/baseline/xrca"
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
		of[rca.Params](rca.Decode),
		of[xrca.Params](xrca.Decode),
		of[dca.Params](dca.Decode),
		of[itml.Params](itml.Decode),
		of[mmc.Params](mmc.Decode),
		of[lmnn.Params](lmnn.Decode),
		of[nca.Params](nca.Decode),
		of[lsml.Params](lsml.Decode),
		of[scml.Params](scml.Decode),
		of[lfda.Params](lfda.Decode),
		of[sdml.Params](sdml.Decode),
		of[mlkr.Params](mlkr.Decode),
		of[covariance.Params](covariance.Decode),
		of[raw.Params](raw.Decode),
		of[xiang.Params](xiang.Decode),
		of[klein.Params](klein.Decode),
		of[llma.Params](llma.Decode),
		of[spectral.Params](spectral.Decode),
		of[kpca.Params](kpca.Decode),
		of[cmvu.Params](cmvu.Decode),
		of[npk.Params](npk.Decode),
		of[simplenpkl.Params](simplenpkl.Decode),
		of[sdplr.Params](sdplr.Decode),
	}
})
