// Package record holds what every fitted model is: a map, the parameters that it was learned with, and how the fit ended. Models of methods
// that have more embed it.
package record

import (
	"context"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/engine/model"
)

// Parameters are those of a method.
type Parameters interface{ Validate() error }

// Model is a fitted metric. It is immutable and safe for concurrent use.
type Model[P Parameters] struct {
	*maps.Map
	params P
	status algorithms.Status
}

var (
	_ algorithms.Model          = (*Model[Parameters])(nil)
	_ algorithms.Inputs         = (*Model[Parameters])(nil)
	_ algorithms.Describer      = (*Model[Parameters])(nil)
	_ algorithms.SingleEmbedder = (*Model[Parameters])(nil)
	_ algorithms.Objective      = (*Traced[Parameters])(nil)
	_ algorithms.Trace          = (*Traced[Parameters])(nil)
)

// New returns the model of a map.
func New[P Parameters](m *maps.Map, params P, status algorithms.Status) *Model[P] {
	return &Model[P]{m, params, status}
}

// Params returns the parameters that it was fitted with.
func (m *Model[P]) Params() P { return m.params }

// Status says how the fit ended.
func (m *Model[P]) Status() algorithms.Status { return m.status }

// Describe returns the figures of the model.
func (m *Model[P]) Describe() []algorithms.Figure {
	k, rows := m.Kernel().String(), m.Places().Rows
	switch {
	case k == "":
		return []algorithms.Figure{{Name: "features", Value: m.InputDim()}, {Name: "dimensions", Value: m.Dim()}}
	case rows == 0:
		return []algorithms.Figure{{Name: "kernel", Value: k}, {Name: "dim", Value: m.Dim()}}
	}
	return []algorithms.Figure{{Name: "kernel", Value: k}, {Name: "points", Value: rows}, {Name: "dim", Value: m.Dim()}}
}

// Encode stores the model in f.
func (m *Model[P]) Encode(f *model.File) error { return m.EncodeWith(f) }

// EncodeWith stores the model in f, with more members of the method's entry in the header, which are structs.
func (m *Model[P]) EncodeWith(f *model.File, extra ...any) error {
	return stored.SetHeader(f, m.Method(), m.params, m.status, append([]any{m.Map.Encode(f)}, extra...)...)
}

// Decode returns the model that [Model.Encode] stored; extra points to what [Model.EncodeWith] got. A tensor or a part of the header that
// cannot be used is a *fault.DataError.
func Decode[P Parameters](method string, f *model.File, read maps.Reader, extra ...any) (*Model[P], error) {
	m, err := DecodeHeader[P](method, f, extra...)
	if err != nil {
		return nil, err
	}
	m.Map, err = read(method, f)
	return m, err
}

// DecodeHeader is [Decode] without the map, for methods whose parameters say how it is read.
func DecodeHeader[P Parameters](method string, f *model.File, extra ...any) (*Model[P], error) {
	m := &Model[P]{}
	if err := stored.Header(f, method, &m.params, &m.status, extra...); err != nil {
		return nil, err
	}
	if err := m.params.Validate(); err != nil {
		return nil, stored.InHeader(err)
	}
	return m, nil
}

// Result returns the model of a fit or, of an error, what a canceled context makes of it.
func Result[M algorithms.Model](ctx context.Context, doing string, m M, err error) (algorithms.Model, error) {
	if err != nil {
		return nil, input.Cancelled(ctx, doing, err)
	}
	return m, nil
}
