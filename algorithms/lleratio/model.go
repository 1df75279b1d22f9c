package lleratio

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/expansion"
	"github.com/mustlink/mustlink/algorithms/internal/mapped"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
)

// Model is a fitted metric. It is immutable and safe for concurrent use. Embed, Gram and Distances, as
// [algorithms.Model] has them, take 2 d Dim flops a point in linear mode, else its kernel values with the stored points,
// the must-linked ones or, in full mode, all of the fit, and 2 Dim flops for each of these.
type Model struct {
	mapped.Metric
	params Params
	status algorithms.Status
	about  about
	trace  []float64
}

var (
	_ algorithms.Model     = (*Model)(nil)
	_ algorithms.Inputs    = (*Model)(nil)
	_ algorithms.Describer = (*Model)(nil)
	_ algorithms.Objective = (*Model)(nil)
	_ algorithms.Trace     = (*Model)(nil)
)

// number is a float64 whose JSON is text, since JSON has no infinity.
type number float64

// MarshalText writes the shortest text that restores the number.
func (v number) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(v), 'g', -1, 64), nil
}

// UnmarshalText reads what MarshalText wrote.
func (v *number) UnmarshalText(text []byte) error {
	f, err := strconv.ParseFloat(string(text), 64)
	*v = number(f)
	return err
}

// about is what the header holds beside parameters and kernel.
type about struct {
	expansion.About
	Ratio         number  `json:"ratio"`
	Gap           number  `json:"gap"`
	Alpha         float64 `json:"alpha"`
	Eigenproblems int     `json:"eigenproblems"`
}

const tensorTrace = "lleratio.trace" // [steps + 1]; absent for a ratio without bound

// Method returns "lleratio".
func (m *Model) Method() string { return Method }

// Status says how the fit ended.
func (m *Model) Status() algorithms.Status { return m.status }

// Objective returns the trace ratio, +Inf when it has no bound.
func (m *Model) Objective() float64 { return float64(m.about.Ratio) }

// Trace returns the ratio at the start and after every step; it rises.
func (m *Model) Trace() []float64 { return slices.Clone(m.trace) }

// Gap returns how far the eigenvalue after the last one that was taken is from it, relative to the
// largest: the metric is unique if it is above 0.
func (m *Model) Gap() float64 { return float64(m.about.Gap) }

// Describe returns the figures of the model.
func (m *Model) Describe() []algorithms.Figure {
	figures := []algorithms.Figure{{Name: "mode", Value: string(m.params.Mode)}}
	if e, ok := m.Map.(*expansion.Map); ok {
		figures = append(figures,
			algorithms.Figure{Name: "kernel", Value: e.Kernel().String()},
			algorithms.Figure{Name: "points of the expansion", Value: e.Support()},
			algorithms.Figure{Name: "orthogonality", Value: string(m.params.Orthogonality)})
	}
	return append(figures,
		algorithms.Figure{Name: "dim", Value: m.Dim()},
		algorithms.Figure{Name: "alpha", Value: m.about.Alpha},
		algorithms.Figure{Name: "trace ratio", Value: shown(m.about.Ratio)},
		algorithms.Figure{Name: "gap to the next direction", Value: shown(m.about.Gap)},
		algorithms.Figure{Name: "eigenproblems", Value: m.about.Eigenproblems})
}

// shown is a number as JSON can hold it.
func shown(v number) any {
	if f := float64(v); !math.IsInf(f, 0) && !math.IsNaN(f) {
		return f
	}
	return fmt.Sprint(float64(v))
}

// Encode stores the model in f.
// An error is one of encoding its header. O(size of the model); slices are shared, not copied.
func (m *Model) Encode(f *model.File) error {
	head := m.about
	head.About = m.EncodeMap(f)
	if !math.IsInf(float64(head.Ratio), 1) {
		f.SetFloat64s(tensorTrace, m.trace)
	}
	return stored.SetHeader(f, Method, m.params, m.status, head)
}

// Decode rebuilds the model that [Model.Encode] stored. A tensor or a part of the header that cannot
// be used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m := &Model{}
	if err := stored.Header(f, Method, &m.params, &m.status, &m.about); err != nil {
		return nil, err
	}
	err := m.params.Validate()
	if err != nil {
		return nil, stored.InHeader(err)
	}
	if v := float64(m.about.Ratio); !(v >= 0) {
		return nil, stored.InHeader(fault.Data("", "ratio is %v: want a number >= 0", v))
	}
	m.trace = []float64{math.Inf(1)}
	if !math.IsInf(float64(m.about.Ratio), 1) {
		if m.trace, err = stored.Finite(f, tensorTrace, -1); err != nil {
			return nil, err
		}
	}
	if m.Metric, err = mapped.DecodeMap(Method, f, m.about.About); err != nil {
		return nil, err
	}
	if is, want := m.Linear(), m.params.Mode == Linear; is != want {
		return nil, stored.InHeader(fault.Data("", "mode is %s, but the map is another one", m.params.Mode))
	}
	return m, nil
}
