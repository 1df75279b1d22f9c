package graphkernel

import (
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/engine/model"
)

// Parameters are those of a baseline on a graph: a struct that embeds [Settings].
type Parameters interface {
	Common() Settings
	Validate() error
}

// Fitted is a fitted kernel matrix and its extension to new points. It is immutable and safe for
// concurrent use.
type Fitted[P Parameters] struct {
	*Extension
	params P
	status algorithms.Status
	result Result
}

// Result is how good a kernel matrix is.
type Result struct {
	Objective float64 `json:"objective"`
	Gap       float64 `json:"gap"` // to the optimum, at most; -1 for unknown
}

type header struct {
	About
	Result
}

// Status says how the fit ended.
func (m *Fitted[P]) Status() algorithms.Status { return m.status }

// Objective returns the objective.
func (m *Fitted[P]) Objective() float64 { return m.result.Objective }

// Gap returns how far the objective is above the optimum, at most, and -1 if that is not known.
func (m *Fitted[P]) Gap() float64 { return m.result.Gap }

// Spectra returns the eigenvalues of the kernel matrix.
func (m *Fitted[P]) Spectra() []algorithms.Spectrum {
	return []algorithms.Spectrum{{Name: "eigenvalues of the kernel matrix", Values: m.Eigenvalues()}}
}

// Describe returns the figures of the model.
func (m *Fitted[P]) Describe() []algorithms.Figure {
	s, gap := m.params.Common(), any(m.result.Gap)
	if m.result.Gap < 0 {
		gap = "unknown"
	}
	return []algorithms.Figure{
		{Name: "loss", Value: string(s.Loss)},
		{Name: "graph", Value: string(s.Graph)},
		{Name: "kernel", Value: m.Kernel().String()},
		{Name: "points", Value: m.Places().Rows},
		{Name: "dim", Value: m.Dim()},
		{Name: "objective", Value: m.result.Objective},
		{Name: "gap to the optimum, at most", Value: gap},
		{Name: "eigenvalues of the kernel matrix", Value: m.Eigenvalues()},
	}
}

// Encode stores the model in f.
func (m *Fitted[P]) Encode(f *model.File) error {
	return stored.SetHeader(f, m.Method(), m.params, m.status, header{m.Extension.Encode(f), m.result})
}

// DecodeFitted rebuilds the model that [Fitted.Encode] stored. A tensor or a part of the header that cannot
// be used is a *fault.DataError.
func DecodeFitted[P Parameters](method string, f *model.File) (*Fitted[P], error) {
	m, about := &Fitted[P]{}, header{}
	err := stored.Header(f, method, &m.params, &m.status, &about)
	if err != nil {
		return nil, err
	}
	if err := m.params.Validate(); err != nil {
		return nil, stored.InHeader(err)
	}
	m.result = about.Result
	s := m.params.Common()
	m.Extension, err = Decode(method, f, about.About, s.Neighbourhood, 1+s.Delta)
	return m, err
}
