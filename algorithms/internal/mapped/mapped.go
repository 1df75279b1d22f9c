// Package mapped holds the model of methods whose metric is a linear map, or in kernel mode an expansion in kernel values.
package mapped

import (
	"context"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/expansion"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/places"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Metric is a *linear.Map or an *expansion.Map.
type Metric struct{ places.Map }

// Kernel returns the kernel that was started from, without bandwidth rules; linear for a linear map.
func (m Metric) Kernel() kernel.Kernel {
	if e, ok := m.Map.(*expansion.Map); ok {
		return e.Kernel()
	}
	return kernel.Linear()
}

// Alphabet returns the letters of the sequences that it takes, "" for other points.
func (m Metric) Alphabet() string {
	if e, ok := m.Map.(*expansion.Map); ok {
		return e.Alphabet()
	}
	return ""
}

// Linear says whether the map is a linear one.
func (m Metric) Linear() bool {
	_, is := m.Map.(*linear.Map)
	return is
}

// EmbedSingle is Embed in single precision, as algorithms.SingleEmbedder says.
func (m Metric) EmbedSingle(ctx context.Context, eng *engine.Engine, x *points.Single) (blas.Matrix32, error) {
	return places.EmbedSingle(ctx, eng, m.Map, x)
}

// EncodeMap stores the map in f and returns what the header has to hold, nothing for a linear map.
func (m Metric) EncodeMap(f *model.File) expansion.About {
	switch t := m.Map.(type) {
	case *expansion.Map:
		return t.Encode(f)
	case *linear.Map:
		t.Encode(f)
	}
	return expansion.About{}
}

// DecodeMap returns the map that [Metric.EncodeMap] stored. A tensor or a kernel that cannot be used is a *fault.DataError.
func DecodeMap(method string, f *model.File, about expansion.About) (Metric, error) {
	if f.Header.Kernel != "" {
		e, err := expansion.Decode(method, f, about)
		return Metric{e}, err
	}
	flat, err := linear.Decode(method, f)
	return Metric{&flat}, err
}

// Model is a metric that is found directly. It is immutable and safe for concurrent use.
type Model[P linear.Parameters] struct {
	Metric
	method string
	params P
	status algorithms.Status
}

// New returns the model of a map.
func New[P linear.Parameters](method string, m places.Map, params P, status algorithms.Status) *Model[P] {
	return &Model[P]{Metric{m}, method, params, status}
}

// Method returns the name of the method that made it.
func (m *Model[P]) Method() string { return m.method }

// Status says how the fit ended.
func (m *Model[P]) Status() algorithms.Status { return m.status }

// Describe returns the figures of the model.
func (m *Model[P]) Describe() []algorithms.Figure {
	return []algorithms.Figure{{Name: "kernel", Value: m.Kernel().String()}, {Name: "dim", Value: m.Dim()}}
}

// Encode stores the model in f.
func (m *Model[P]) Encode(f *model.File) error {
	return stored.SetHeader(f, m.method, m.params, m.status, m.EncodeMap(f))
}

// Decode rebuilds the model that [Model.Encode] stored. A tensor or a part of the header that cannot be used is
// a *fault.DataError.
func Decode[P linear.Parameters](method string, f *model.File) (*Model[P], error) {
	m, about := &Model[P]{method: method}, expansion.About{}
	if err := stored.Header(f, method, &m.params, &m.status, &about); err != nil {
		return nil, err
	}
	if err := m.params.Validate(); err != nil {
		return nil, stored.InHeader(err)
	}
	var err error
	m.Metric, err = DecodeMap(method, f, about)
	return m, err
}
