package linear

import (
	"fmt"
	"slices"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
)

// Parameters are those of a method.
type Parameters interface{ Validate() error }

// NoDifference says that all cannot-links join equal points.
func NoDifference() error {
	return fault.Data("", "all cannot-links join equal points: want some between points that differ")
}

// Fitted is a metric that is found directly, the linear map y = W (x - mean). It is immutable and safe for concurrent use.
type Fitted[P Parameters] struct {
	Map
	params P
	status algorithms.Status
}

// NewFitted returns the model of a map.
func NewFitted[P Parameters](m Map, params P, status algorithms.Status) *Fitted[P] {
	return &Fitted[P]{m, params, status}
}

// Status says how the fit ended.
func (m *Fitted[P]) Status() algorithms.Status { return m.status }

// Describe returns the figures of the model.
func (m *Fitted[P]) Describe() []algorithms.Figure {
	return []algorithms.Figure{{Name: "features", Value: m.InputDim()}, {Name: "dimensions", Value: m.Dim()}}
}

// Encode stores the model in f.
func (m *Fitted[P]) Encode(f *model.File) error {
	m.Map.Encode(f)
	return stored.SetHeader(f, m.Method(), m.params, m.status, nil)
}

// DecodeFitted rebuilds the model that [Fitted.Encode] stored. A tensor or a part of the header that cannot be used is
// a *fault.DataError.
func DecodeFitted[P Parameters](method string, f *model.File) (*Fitted[P], error) {
	m := &Fitted[P]{}
	if err := stored.Header(f, method, &m.params, &m.status, nil); err != nil {
		return nil, err
	}
	if err := m.params.Validate(); err != nil {
		return nil, stored.InHeader(err)
	}
	var err error
	m.Map, err = Decode(method, f)
	return m, err
}

// Descended is a metric that is found step by step, with the objective of every step. It is immutable and safe for
// concurrent use.
type Descended[P Parameters] struct {
	*Fitted[P]
	trace []float64
}

// NewDescended returns the model of a map with the objectives at the start and after every iteration.
func NewDescended[P Parameters](m Map, params P, status algorithms.Status, trace []float64) *Descended[P] {
	return &Descended[P]{NewFitted(m, params, status), trace}
}

// Bounded returns the status of a fit that knows how far its objective is above the minimum at most.
func Bounded(begin time.Time, trace []float64, converged bool, gap float64) algorithms.Status {
	status := algorithms.Status{Converged: converged, Iterations: len(trace) - 1, Elapsed: time.Since(begin)}
	if !converged {
		status.Message = fmt.Sprintf("after %d iterations the objective may be %.2g above its minimum: raise max_iter or tol", status.Iterations, gap)
	}
	return status
}

// Trace returns the objective at the start and after every iteration.
func (m *Descended[P]) Trace() []float64 { return slices.Clone(m.trace) }

// Objective returns the last objective.
func (m *Descended[P]) Objective() float64 { return m.trace[len(m.trace)-1] }

// Describe returns the figures of the model.
func (m *Descended[P]) Describe() []algorithms.Figure {
	return append(m.Fitted.Describe(), algorithms.Figure{Name: "objective at the start", Value: m.trace[0]}, algorithms.Figure{Name: "objective", Value: m.Objective()})
}

// Encode stores the model in f.
func (m *Descended[P]) Encode(f *model.File) error {
	f.SetFloat64s(m.Method()+".trace", m.trace)
	return m.Fitted.Encode(f)
}

// DecodeDescended rebuilds the model that [Descended.Encode] stored. A tensor or a part of the header that cannot be used
// is a *fault.DataError.
func DecodeDescended[P Parameters](method string, f *model.File) (*Descended[P], error) {
	trace, err := stored.Finite(f, method+".trace", -1)
	if err != nil {
		return nil, err
	}
	if len(trace) == 0 {
		return nil, stored.Empty(method + ".trace")
	}
	m, err := DecodeFitted[P](method, f)
	return &Descended[P]{m, trace}, err
}
