package cmvu

import (
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/barycentric"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/engine/model"
)

// Model is places of training points and their extension to new ones. It is immutable and safe for concurrent use. Embed,
// Gram and Distances, as [algorithms.Model] has them, are exact for the training points, whose places are stored; a new
// point takes its distances to all of them, O(k^3) flops for the weights of its k neighbours, and 2 k Dim.
type Model struct {
	*record.Model[Params]
	variances []float64
	result    result
}

// result is how good the coordinates are.
type result struct {
	Objective float64 `json:"objective"`
	Residual  float64 `json:"residual"`
}

const tensorVariances = "cmvu.variances" // [dims]

// Objective returns the objective, in units of the mean squared length of the graph's edges.
func (m *Model) Objective() float64 { return m.result.Objective }

// Residual returns the residual of the conditions of the optimum.
func (m *Model) Residual() float64 { return m.result.Residual }

// Spectra returns the variances of the directions.
func (m *Model) Spectra() []algorithms.Spectrum {
	return []algorithms.Spectrum{{Name: "variances of the directions", Values: slices.Clone(m.variances)}}
}

// Describe returns the figures of the model.
func (m *Model) Describe() []algorithms.Figure {
	return append(append([]algorithms.Figure{{Name: "graph", Value: string(m.Params().Graph)}}, m.Model.Describe()...),
		algorithms.Figure{Name: "objective", Value: m.result.Objective},
		algorithms.Figure{Name: "residual of the optimum's conditions", Value: m.result.Residual},
		algorithms.Figure{Name: "variances of the directions", Value: m.variances})
}

// Encode stores the model in f.
func (m *Model) Encode(f *model.File) error {
	f.SetFloat64s(tensorVariances, m.variances)
	return m.EncodeWith(f, m.result)
}

// Decode rebuilds the model that [Model.Encode] stored. A tensor or a part of the header that cannot be used is
// a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m := &Model{}
	var err error
	if m.Model, err = record.Decode[Params](Method, f, barycentric.Read, &m.result); err != nil {
		return nil, err
	}
	m.variances, err = stored.Finite(f, tensorVariances, -1)
	return m, err
}
