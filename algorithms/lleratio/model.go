package lleratio

import (
	"fmt"
	"math"
	"strconv"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
)

// Model is a fitted metric. It is immutable and safe for concurrent use. Embed, Gram and Distances, as
// [algorithms.Model] has them, take 2 d Dim flops a point in linear mode, else its kernel values with the stored points,
// the must-linked ones or, in full mode, all of the fit, and 2 Dim flops for each of these.
type Model struct {
	*record.Model[Params]
	record.Descent
	about about
}

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
	Ratio         number  `json:"ratio"`
	Gap           number  `json:"gap"`
	Alpha         float64 `json:"alpha"`
	Eigenproblems int     `json:"eigenproblems"`
}

// Gap returns how far the eigenvalue after the last one that was taken is from it, relative to the
// largest: the metric is unique if it is above 0.
func (m *Model) Gap() float64 { return float64(m.about.Gap) }

// Describe returns the figures of the model.
func (m *Model) Describe() []algorithms.Figure {
	figures := []algorithms.Figure{{Name: "mode", Value: string(m.Params().Mode)}}
	if count := m.Support(); count > 0 {
		figures = append(figures,
			algorithms.Figure{Name: "kernel", Value: m.Kernel().String()},
			algorithms.Figure{Name: "points of the expansion", Value: count},
			algorithms.Figure{Name: "orthogonality", Value: string(m.Params().Orthogonality)})
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

// Encode stores the model in f, without the trace of a ratio without bound.
func (m *Model) Encode(f *model.File) error {
	if !math.IsInf(m.Objective(), 1) {
		m.EncodeTo(f, Method)
	}
	return m.EncodeWith(f, m.about)
}

// Decode rebuilds the model that [Model.Encode] stored. A tensor or a part of the header that cannot
// be used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m := &Model{}
	var err error
	if m.Model, err = record.Decode[Params](Method, f, maps.ReadEither, &m.about); err != nil {
		return nil, err
	}
	if v := float64(m.about.Ratio); !(v >= 0) {
		return nil, stored.InHeader(fault.Data("", "ratio is %v: want a number >= 0", v))
	}
	m.Descent = record.NewDescent([]float64{math.Inf(1)})
	if !math.IsInf(float64(m.about.Ratio), 1) {
		if m.Descent, err = record.DecodeDescent(Method, f); err != nil {
			return nil, err
		}
	}
	if mode := m.Params().Mode; (m.Support() == 0) != (mode == Linear) {
		return nil, stored.InHeader(fault.Data("", "mode is %s, but the map is another one", mode))
	}
	return m, nil
}
