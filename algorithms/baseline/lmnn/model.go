package lmnn

import (
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/engine/model"
)

// Model is a fitted metric, the linear map y = W (x - mean). It is immutable and safe for concurrent use. Embed, Gram and
// Distances, as [algorithms.Model] has them, are exact and take 2 d Dim flops a point. The objective falls.
type Model = record.Traced[Params]

// Decode rebuilds a model from its file. A tensor or a part of the header that cannot be used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	return record.DecodeTraced[Params](Method, f, maps.ReadLinear)
}
