package expansion

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/places"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// EmbedSingle is [Map.Embed] in single precision, as algorithms.SingleEmbedder says.
func (m *Map) EmbedSingle(ctx context.Context, eng *engine.Engine, x *points.Single) (blas.Matrix32, error) {
	return Single(ctx, eng, m.method, m.kernel, m.support, m.turned, m.centre, x)
}

// Single returns y = V k(l, x) - c in single precision for n points, n x dims; turned is V', m x dims, and centre is c, nil for 0.
// Stored points of another kind than dense vectors are a *fault.ParamError. Cost: 2 n m (d + dims) flops, and rounding m (d + dims) numbers.
func Single(ctx context.Context, eng *engine.Engine, method string, k kernel.Kernel, support points.Points, turned blas.Matrix, centre []float64, x *points.Single) (blas.Matrix32, error) {
	dense, ok := support.(*points.Dense)
	if !ok {
		return blas.Matrix32{}, &fault.ParamError{Param: "precision", Value: "single", Want: "double for a model of other points than dense vectors"}
	}
	if x.D != dense.D {
		return blas.Matrix32{}, stored.WrongFeatures(x.D, dense.D)
	}
	narrow, err := points.Narrow(dense)
	if err != nil {
		return blas.Matrix32{}, fmt.Errorf("%s: the model's points in single precision: %w", method, err)
	}
	v := blas.NewMatrix32(turned.Rows, turned.Cols)
	for l := range turned.Rows {
		eng.Backend().Kernels().Narrow(v.Row(l), turned.Row(l))
	}
	if err := eng.Check(fmt.Sprintf("embedding of %d points in %d dimensions", x.N, v.Cols), engine.MatrixBytes(x.N, v.Cols)/2, "embed fewer points at a time"); err != nil {
		return blas.Matrix32{}, err
	}
	out := blas.NewMatrix32(x.N, v.Cols)
	if err := k.MultiplySingle(ctx, eng, out, x, narrow, v); err != nil {
		return blas.Matrix32{}, input.Cancelled(ctx, method+":", err)
	}
	for i := range out.Rows {
		row := out.Row(i)
		for c, shift := range centre {
			row[c] -= float32(shift)
		}
	}
	return out, places.FiniteSingle(out)
}
