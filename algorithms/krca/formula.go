package krca

import (
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/formula"
)

// Formula returns the embedding as data.
func (e extension) Formula() (formula.Map, error) {
	m := e.metric
	if !m.spectral() {
		return formula.Centered(&formula.Expansion{Kernel: m.kernel, Support: e.support, V: e.weights, Center: e.offset})
	}
	out := &formula.Residual{
		Kernel: m.kernel, Support: e.support, Projection: blas.NewMatrix(e.support.Len(), m.width()), Directions: e.directions, Center: e.offset,
		Rows: e.reference, References: e.referenceC, Weights: e.weights, Negligible: residualTol,
	}
	anchors := m.f.expand(m.basis) // c(x) = (F basis)' k_anchors(x)
	for i, at := range e.chunklet {
		addScaled(out.Projection.Row(at), 1, anchors.Row(i))
	}
	return formula.Centered(out)
}
