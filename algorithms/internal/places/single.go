package places

import (
	"context"
	"errors"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// EmbedSingle embeds in single precision with a map that can, or else returns a *fault.ParamError.
func EmbedSingle(ctx context.Context, eng *engine.Engine, m Map, x *points.Single) (blas.Matrix32, error) {
	single, ok := m.(algorithms.SingleEmbedder)
	if !ok {
		return blas.Matrix32{}, &fault.ParamError{Param: "precision", Value: "single", Want: "double for models that place points by their nearest neighbours"}
	}
	return single.EmbedSingle(ctx, eng, x)
}

// FiniteSingle is [Finite] for places in single precision.
func FiniteSingle(y blas.Matrix32) error {
	for i := range y.Rows {
		for _, v := range y.Row(i) {
			if v-v != 0 {
				return &fault.DataError{Row: i, Err: errors.New("the place of this point is beyond single precision: want smaller values (standardize the data), or double precision")}
			}
		}
	}
	return nil
}
