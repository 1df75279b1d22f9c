package rca

import (
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
}

var (
	_ algorithms.Model     = (*Model)(nil)
	_ algorithms.Inputs    = (*Model)(nil)
	_ algorithms.Describer = (*Model)(nil)
)

// Status says how the fit ended. RCA has a closed form: it always converges.
func (m *Model) Status() algorithms.Status { return m.status }

// Describe returns the figures of the model.
func (m *Model) Describe() []algorithms.Figure {
	return []algorithms.Figure{{Name: "features", Value: m.InputDim()}, {Name: "dimensions", Value: m.Dim()}}
}

// Encode stores the model in f.
// An error is one of encoding its header. O(size of the model); slices are shared, not copied.
func (m *Model) Encode(f *model.File) error {
	m.Map.Encode(f)
	return stored.SetHeader(f, Method, m.params, m.status, nil)
}

// Decode rebuilds the model that [Model.Encode] stored. A tensor or a part of the header that cannot
// be used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m := &Model{}
	if err := stored.Header(f, Method, &m.params, &m.status, nil); err != nil {
		return nil, err
	}
	if err := m.params.Validate(); err != nil {
		return nil, stored.InHeader(err)
	}
	var err error
	m.Map, err = linear.Decode(Method, f)
	return m, err
}
