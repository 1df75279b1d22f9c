package lmnn

import (
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/engine/model"
)

// Model is a fitted metric, the linear map y = W (x - mean). It is immutable and safe for concurrent use. Embed, Gram and
// Distances, as [algorithms.Model] has them, are exact and take 2 d Dim flops a point.
type Model struct {
	linear.Map
	params Params
	status algorithms.Status
	trace  []float64
}

var (
	_ algorithms.Model     = (*Model)(nil)
	_ algorithms.Inputs    = (*Model)(nil)
	_ algorithms.Describer = (*Model)(nil)
	_ algorithms.Objective = (*Model)(nil)
	_ algorithms.Trace     = (*Model)(nil)
)

const tensorTrace = "lmnn.trace" // [iterations + 1]

// Status says how the fit ended.
func (m *Model) Status() algorithms.Status { return m.status }

// Trace returns the objective at the start and after every iteration; it falls.
func (m *Model) Trace() []float64 { return slices.Clone(m.trace) }

// Objective returns the last objective.
func (m *Model) Objective() float64 { return m.trace[len(m.trace)-1] }

// Describe returns the figures of the model.
func (m *Model) Describe() []algorithms.Figure {
	return []algorithms.Figure{
		{Name: "features", Value: m.InputDim()},
		{Name: "dimensions", Value: m.Dim()},
		{Name: "objective at the start", Value: m.trace[0]},
		{Name: "objective", Value: m.Objective()},
	}
}

// Encode stores the model in f.
// An error is one of encoding its header. O(size of the model); slices are shared, not copied.
func (m *Model) Encode(f *model.File) error {
	m.Map.Encode(f)
	f.SetFloat64s(tensorTrace, m.trace)
	return stored.SetHeader(f, Method, m.params, m.status, nil)
}

// Decode rebuilds the model that [Model.Encode] stored. A tensor or a part of the header that cannot
// be used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m := &Model{}
	err := stored.Header(f, Method, &m.params, &m.status, nil)
	if err != nil {
		return nil, err
	}
	if err := m.params.Validate(); err != nil {
		return nil, stored.InHeader(err)
	}
	if m.trace, err = stored.Finite(f, tensorTrace, -1); err != nil {
		return nil, err
	}
	if len(m.trace) == 0 {
		return nil, stored.Empty(tensorTrace)
	}
	m.Map, err = linear.Decode(Method, f)
	return m, err
}
