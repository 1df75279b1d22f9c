package record

import (
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/engine/model"
)

// Descent is the objective after every step of a search.
type Descent struct{ trace []float64 }

// NewDescent returns the objectives, one at least.
func NewDescent(trace []float64) Descent { return Descent{trace} }

// Trace returns the objective after every step, the start being one for most methods.
func (d Descent) Trace() []float64 { return slices.Clone(d.trace) }

// Objective returns the last objective.
func (d Descent) Objective() float64 { return d.trace[len(d.trace)-1] }

// trace ends the name of the tensor that holds one.
const trace = ".trace"

// EncodeTo stores the objectives in f.
func (d Descent) EncodeTo(f *model.File, method string) { f.SetFloat64s(method+trace, d.trace) }

// DecodeDescent returns what [Descent.EncodeTo] stored. A tensor that cannot be used is a *fault.DataError.
func DecodeDescent(method string, f *model.File) (Descent, error) {
	values, err := stored.Finite(f, method+trace, -1)
	if err == nil && len(values) == 0 {
		err = stored.Empty(method + trace)
	}
	return Descent{values}, err
}

// Traced is a [Model] that was found step by step.
type Traced[P Parameters] struct {
	*Model[P]
	Descent
}

// NewTraced returns the model of a map with the objectives at the start and after every iteration.
func NewTraced[P Parameters](m *maps.Map, params P, status algorithms.Status, trace []float64) *Traced[P] {
	return &Traced[P]{New(m, params, status), Descent{trace}}
}

// Describe returns the figures of the model.
func (m *Traced[P]) Describe() []algorithms.Figure {
	return append(m.Model.Describe(), algorithms.Figure{Name: "objective at the start", Value: m.trace[0]}, algorithms.Figure{Name: "objective", Value: m.Objective()})
}

// Encode stores the model in f.
func (m *Traced[P]) Encode(f *model.File) error { return m.EncodeWith(f) }

// EncodeWith stores the model in f, with more members of the method's entry in the header.
func (m *Traced[P]) EncodeWith(f *model.File, extra ...any) error {
	m.EncodeTo(f, m.Method())
	return m.Model.EncodeWith(f, extra...)
}

// DecodeTraced returns the model that [Traced.Encode] stored; extra points to what [Traced.EncodeWith] got. A tensor or a part of the
// header that cannot be used is a *fault.DataError.
func DecodeTraced[P Parameters](method string, f *model.File, read maps.Reader, extra ...any) (*Traced[P], error) {
	m, err := Decode[P](method, f, read, extra...)
	if err != nil {
		return nil, err
	}
	d, err := DecodeDescent(method, f)
	return &Traced[P]{m, d}, err
}

// Bounded returns the status of a fit that knows how far its objective is above the minimum at most.
func Bounded(trace []float64, converged bool, gap float64) algorithms.Status {
	status := algorithms.Status{Converged: converged, Iterations: len(trace) - 1}
	if !converged {
		status.Message = fmt.Sprintf("after %d iterations the objective may be %.2g above its minimum: raise max_iter or tol", status.Iterations, gap)
	}
	return status
}
