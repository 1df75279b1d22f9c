package kbeta

import (
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/formula"
)

// Formula returns the map with Nystrom's extension as data; any other extension is a
// *fault.ParamError.
func (e extension) Formula() (formula.Map, error) {
	if e.params.Extension != Nystrom {
		return nil, &fault.ParamError{Param: "extension of the model", Value: string(e.params.Extension), Want: "nystrom for a formula for new rows: fit kbeta again with extension=nystrom"}
	}
	v, center := e.chosen()
	return formula.Centered(&formula.Expansion{Kernel: e.kernel, Support: e.support, V: v, Center: center})
}

// chosen returns the columns of V diag(beta / mu), and the offsets, of some directions.
func (e extension) chosen() (v blas.Matrix, center []float64) {
	v, center = blas.NewMatrix(e.metric.extension.Rows, len(e.directions)), make([]float64, len(e.directions))
	for c, r := range e.directions {
		center[c] = e.offset[r]
		for l := range v.Rows {
			v.Set(l, c, e.metric.extension.At(l, r))
		}
	}
	return v, center
}
