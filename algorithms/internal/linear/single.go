package linear

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/places"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// EmbedSingle is [Map.Embed] in single precision, as algorithms.SingleEmbedder says: x - mean is rounded once.
func (m *Map) EmbedSingle(ctx context.Context, eng *engine.Engine, x *points.Single) (blas.Matrix32, error) {
	if x.D != len(m.mean) {
		return blas.Matrix32{}, stored.WrongFeatures(x.D, len(m.mean))
	}
	w, err := points.Narrow(&points.Dense{N: m.w.Rows, D: m.w.Cols, Data: m.w.Clone().Data})
	if err != nil {
		return blas.Matrix32{}, fmt.Errorf("%s: the model's transformation in single precision: %w", m.method, err)
	}
	need := engine.MatrixBytes(x.N, m.w.Rows+x.D) / 2
	if err := eng.Check(fmt.Sprintf("embedding of %d points in %d dimensions", x.N, m.w.Rows), need, "embed fewer points at a time"); err != nil {
		return blas.Matrix32{}, err
	}
	centred := &points.Single{N: x.N, D: x.D, Data: make([]float32, x.N*x.D)}
	for i := range x.N {
		row := centred.Row(i)
		for j, v := range x.Row(i) {
			row[j] = float32(float64(v) - m.mean[j])
		}
	}
	out := blas.NewMatrix32(x.N, m.w.Rows)
	if err := kernel.Linear().CrossSingle(ctx, eng, out, centred, w); err != nil {
		return blas.Matrix32{}, input.Cancelled(ctx, m.method+":", err)
	}
	return out, places.FiniteSingle(out)
}
