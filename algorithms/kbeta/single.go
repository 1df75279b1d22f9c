package kbeta

import (
	"context"

	"github.com/mustlink/mustlink/algorithms/internal/expansion"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// EmbedSingle is [Model.Embed] in single precision, as algorithms.SingleEmbedder says, for the extension nystrom; another one is a
// *fault.ParamError. Cost: 2 n m (d + Dim) flops for m landmarks.
func (m *Model) EmbedSingle(ctx context.Context, eng *engine.Engine, x *points.Single) (blas.Matrix32, error) {
	if m.params.Extension != Nystrom {
		return blas.Matrix32{}, &fault.ParamError{Param: "precision", Value: "single", Want: "double for models of kbeta with extension=lle (single for those with extension=nystrom)"}
	}
	directions := m.order[:m.Dim()]
	turned, centre := blas.NewMatrix(m.extension.Rows, len(directions)), make([]float64, len(directions))
	for c, r := range directions {
		centre[c] = m.offset[r]
		for l := range turned.Rows {
			turned.Set(l, c, m.extension.At(l, r))
		}
	}
	return expansion.Single(ctx, eng, Method, m.kernel, m.support, turned, centre, x)
}
