package graphkernel

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/model"
)

// Parameters are the parameters of a baseline on a graph: a struct that embeds [Settings].
type Parameters interface {
	Common() Settings
	Validate() error
}

// Fitted is the model of a fitted kernel matrix, with its extension to new points. It is immutable
// and safe for concurrent use.
type Fitted[P Parameters] struct {
	*fitted.Model[P]
	result Result
}

// Result is the objective of a kernel matrix and its gap to the optimum.
type Result struct {
	Objective float64 `json:"objective"`
	Gap       float64 `json:"gap"` // upper bound of the gap to the optimum; -1 if unknown
}

// Objective returns the objective of the kernel matrix.
func (m *Fitted[P]) Objective() float64 { return m.result.Objective }

// Gap returns an upper bound of the objective's gap to the optimum, or -1 if it is unknown.
func (m *Fitted[P]) Gap() float64 { return m.result.Gap }

// Spectra returns the eigenvalues of the kernel matrix.
func (m *Fitted[P]) Spectra() []algorithms.Spectrum { return Spectra(m.Map) }

// Describe returns the statistics of the model.
func (m *Fitted[P]) Describe() []algorithms.Statistic {
	s := m.Params().Common()
	return Describe(m.Map, m.Model.Describe(), s.Loss, s.Graph, m.result)
}

// Encode stores the model in f.
func (m *Fitted[P]) Encode(f *model.File) error { return m.EncodeWith(f, m.result) }

// DecodeFitted rebuilds the model that [Fitted.Encode] stored. An unusable tensor or member of the
// header is a *fault.DataError.
func DecodeFitted[P Parameters](method string, f *model.File) (*Fitted[P], error) {
	m := &Fitted[P]{}
	var err error
	m.Model, err = fitted.Decode[P](method, f, Read, &m.result)
	return m, err
}

// Eigenvalues returns the eigenvalues of a map's kernel matrix. The coordinates must be along its
// eigenvectors.
func Eigenvalues(m *fitted.Map) []float64 {
	p := m.Coordinates()
	out := make([]float64, p.Cols)
	for i := range p.Rows {
		for c, v := range p.Row(i) {
			out[c] += v * v
		}
	}
	return out
}

// Spectra returns the eigenvalues of a map's kernel matrix as a named spectrum.
func Spectra(m *fitted.Map) []algorithms.Spectrum {
	return []algorithms.Spectrum{{Name: "eigenvalues of the kernel matrix", Values: Eigenvalues(m)}}
}

// Describe returns the statistics of a model: loss and graph, those of its record, the objective,
// more of the method's own, the gap and the eigenvalues.
func Describe(m *fitted.Map, recorded []algorithms.Statistic, loss Loss, g Graph, r Result, more ...algorithms.Statistic) []algorithms.Statistic {
	gap := any(r.Gap)
	if r.Gap < 0 {
		gap = "unknown"
	}
	return slices.Concat(
		[]algorithms.Statistic{{Name: "loss", Value: string(loss)}, {Name: "graph", Value: string(g)}}, recorded,
		[]algorithms.Statistic{{Name: "objective", Value: r.Objective}}, more,
		[]algorithms.Statistic{{Name: "gap to the optimum, at most", Value: gap}, {Name: "eigenvalues of the kernel matrix", Value: Eigenvalues(m)}})
}

// Axes returns the eigenvalues w of Z = V V' above tol times the largest one, descending, and their
// unit eigenvectors as rows. V has n rows and few columns.
func Axes(ctx context.Context, eng *engine.Engine, v blas.Matrix, tol float64) (rows blas.Matrix, w []float64, err error) {
	r := v.Cols
	gram, values := blas.NewMatrix(r, r), make([]float64, r)
	eng.Backend().Syrk(true, 1, v, 0, gram)
	if err := eng.SymEig(ctx, gram, values, true); err != nil {
		return rows, nil, err
	}
	for c := r - 1; c >= 0 && values[c] > tol*values[r-1]; c-- {
		w = append(w, values[c])
	}
	turn := blas.NewMatrix(len(w), r)
	rows = blas.NewMatrix(len(w), v.Rows)
	for k := range w {
		copy(turn.Row(k), gram.Row(r-1-k))
	}
	eng.Backend().Gemm(false, true, 1, turn, v, 0, rows)
	for k, s := range w {
		eng.Backend().Kernels().Scale(1/math.Sqrt(s), rows.Row(k))
	}
	return rows, w, ctx.Err()
}

// OnAxes rotates coordinates, n x r, to the eigenvectors of their kernel matrix that [Axes] keeps,
// in the order of descending eigenvalues. Without any it returns one column of zeros.
func OnAxes(ctx context.Context, eng *engine.Engine, v blas.Matrix, tol float64) (blas.Matrix, error) {
	rows, w, err := Axes(ctx, eng, v, tol)
	if err != nil {
		return blas.Matrix{}, err
	}
	return linear.Coordinates(rows, w), nil
}
