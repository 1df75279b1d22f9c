package krca

import (
	"context"

	"github.com/mustlink/mustlink/algorithms/internal/expansion"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// EmbedSingle is [Model.Embed] in single precision, as algorithms.SingleEmbedder says, for the Cholesky form; the spectral one, which is
// there because its terms would cancel, is a *fault.ParamError. The weights grow as 1/eps, and errors with them.
// Cost: 2 n m (d + Dim) flops for m points in chunklets and landmarks.
func (m *Model) EmbedSingle(ctx context.Context, eng *engine.Engine, x *points.Single) (blas.Matrix32, error) {
	if m.metric.spectral() {
		return blas.Matrix32{}, &fault.ParamError{Param: "precision", Value: "single", Want: "double for models of krca in the spectral form (single for those with form=cholesky)"}
	}
	return expansion.Single(ctx, eng, Method, m.metric.kernel, m.embed.support, m.embed.weights, m.embed.offset, x)
}
