package cmvu

import (
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/barycentric"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/engine/model"
)

// Model is places of training points and their extension to new ones. It is immutable and safe for concurrent use. Embed,
// Gram and Distances, as [algorithms.Model] has them, are exact for the training points, whose places are stored; a new
// point takes its distances to all of them, O(k^3) flops for the weights of its k neighbours, and 2 k Dim.
type Model struct {
	*barycentric.Extension
	params    Params
	status    algorithms.Status
	variances []float64
	result    result
}

var (
	_ algorithms.Model     = (*Model)(nil)
	_ algorithms.Inputs    = (*Model)(nil)
	_ algorithms.Describer = (*Model)(nil)
	_ algorithms.Objective = (*Model)(nil)
	_ algorithms.Spectral  = (*Model)(nil)
)

// result is how good the places are.
type result struct {
	Objective float64 `json:"objective"`
	Residual  float64 `json:"residual"`
}

type header struct {
	barycentric.About
	result
}

const tensorVariances = "cmvu.variances" // [dims]

// Method returns "cmvu".
func (m *Model) Method() string { return Method }

// Status says how the fit ended.
func (m *Model) Status() algorithms.Status { return m.status }

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
	return []algorithms.Figure{
		{Name: "graph", Value: string(m.params.Graph)},
		{Name: "kernel", Value: m.Kernel().String()},
		{Name: "points", Value: m.Places().Rows},
		{Name: "dim", Value: m.Dim()},
		{Name: "objective", Value: m.result.Objective},
		{Name: "residual of the optimum's conditions", Value: m.result.Residual},
		{Name: "variances of the directions", Value: m.variances},
	}
}

// Encode stores the model in f.
// An error is one of encoding its header. O(size of the model); slices are shared, not copied.
func (m *Model) Encode(f *model.File) error {
	about := header{m.Extension.Encode(f), m.result}
	f.SetFloat64s(tensorVariances, m.variances)
	return stored.SetHeader(f, Method, m.params, m.status, about)
}

// Decode rebuilds the model that [Model.Encode] stored. A tensor or a part of the header that cannot be used is
// a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m, about := &Model{}, header{}
	err := stored.Header(f, Method, &m.params, &m.status, &about)
	if err != nil {
		return nil, err
	}
	if err := m.params.Validate(); err != nil {
		return nil, stored.InHeader(err)
	}
	if m.variances, err = stored.Finite(f, tensorVariances, -1); err != nil {
		return nil, err
	}
	m.result = about.result
	m.Extension, err = barycentric.Decode(Method, f, about.About)
	return m, err
}
