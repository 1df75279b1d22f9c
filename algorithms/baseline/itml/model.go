package itml

import (
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/expansion"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/algorithms/internal/mapped"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/engine/model"
)

// Model is a fitted metric. It is immutable and safe for concurrent use. Embed, Gram and Distances, as
// [algorithms.Model] has them, take 2 d Dim flops a point in linear mode, else its kernel values with the stored points,
// the linked ones and up to 2000 of the fit, and 2 Dim flops for each of these.
type Model struct {
	mapped.Metric
	params Params
	status algorithms.Status
	about  about
	taught *logdetmetric.Taught // nil from a file that does not hold it
}

var (
	_ algorithms.Model     = (*Model)(nil)
	_ algorithms.Inputs    = (*Model)(nil)
	_ algorithms.Describer = (*Model)(nil)
	_ algorithms.Linker    = (*Model)(nil)
)

// about is what the header holds beside parameters and kernel.
type about struct {
	expansion.About
	logdetmetric.Bounds
	logdetmetric.AboutTaught
	Residual float64 `json:"kkt"`
	Skipped  int     `json:"skipped"`
}

// Method returns "itml".
func (m *Model) Method() string { return Method }

// Status says how the fit ended.
func (m *Model) Status() algorithms.Status { return m.status }

// Residual returns the largest residual of the conditions of the optimum.
func (m *Model) Residual() float64 { return m.about.Residual }

// Describe returns the figures of the model.
func (m *Model) Describe() []algorithms.Figure {
	return []algorithms.Figure{
		{Name: "kernel", Value: m.Kernel().String()},
		{Name: "dim", Value: m.Dim()},
		{Name: "bound of must-links", Value: m.about.Upper},
		{Name: "bound of cannot-links", Value: m.about.Lower},
		{Name: "residual of the optimum's conditions", Value: m.about.Residual},
		{Name: "links between points in one place", Value: m.about.Skipped},
	}
}

// Encode stores the model in f.
// An error is one of encoding its header. O(size of the model); slices are shared, not copied.
func (m *Model) Encode(f *model.File) error {
	head := m.about
	head.About, head.AboutTaught = m.EncodeMap(f), m.taught.Encode(f, Method)
	return stored.SetHeader(f, Method, m.params, m.status, head)
}

// Decode rebuilds the model that [Model.Encode] stored. A tensor or a part of the header that cannot
// be used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m := &Model{}
	err := stored.Header(f, Method, &m.params, &m.status, &m.about)
	if err != nil {
		return nil, err
	}
	if err := m.params.Validate(); err != nil {
		return nil, stored.InHeader(err)
	}
	if m.Metric, err = mapped.DecodeMap(Method, f, m.about.About); err != nil {
		return nil, err
	}
	m.taught, err = logdetmetric.DecodeTaught(f, Method, m.about.AboutTaught)
	return m, err
}
