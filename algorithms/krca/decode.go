package krca

import (
	"encoding/json"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Decode rebuilds the model that [Model.Encode] stored. Every shape, index and number is
// checked: a tensor that is missing, misshapen or out of range, or not finite, is a
// *fault.DataError. The model shares the tensors' memory.
func Decode(f *model.File) (*Model, error) {
	if f.Header.Method != Method {
		return nil, fault.Data("", "model of method %q: want %q", f.Header.Method, Method)
	}
	out := &Model{metric: &metric{}, embed: &embedding{}}
	if err := unmarshal("params", f.Header.Params, &out.params); err != nil {
		return nil, err
	}
	if err := out.params.Validate(); err != nil {
		return nil, fault.Data("", "header of the model: %w", err)
	}
	if err := unmarshal("status", f.Header.Status, &out.status); err != nil {
		return nil, err
	}
	var about extra
	if err := unmarshal(extraKey, f.Header.Extra[extraKey], &about); err != nil {
		return nil, err
	}
	if err := out.metric.decodeHeader(f, about); err != nil {
		return nil, err
	}
	var err error
	if out.embed.support, err = decodePoints(f, about); err != nil {
		return nil, err
	}
	if err := out.metric.decodeChunklets(f, out.embed, about.S != 0); err != nil {
		return nil, err
	}
	if err := out.decodeGrowth(f, about); err != nil {
		return nil, err
	}
	if about.Form == FormSpectral {
		err = out.decodeSpectral(f)
	} else {
		err = out.decodeCholesky(f, about)
	}
	if err != nil {
		return nil, err
	}
	out.metric.anchors = selectPoints(out.embed.support, out.embed.chunklet)
	return out, nil
}

func unmarshal(what string, text json.RawMessage, to any) error {
	if err := json.Unmarshal(text, to); err != nil {
		return fault.Data("", "header of the model, %s: %w", what, err)
	}
	return nil
}

func (m *metric) decodeHeader(f *model.File, about extra) error {
	spec, err := kernel.Parse(f.Header.Kernel)
	if err == nil {
		m.kernel, err = kernel.New(spec)
	}
	if err != nil {
		return fault.Data("", "header of the model: %w", err)
	}
	if !(about.Eps > 0) || math.IsInf(about.Eps, 0) {
		return fault.Data("", "header of the model: eps is %g: want a finite number > 0", about.Eps)
	}
	if about.Form != FormCholesky && about.Form != FormSpectral {
		return fault.Data("", "header of the model: form is %q: want %s or %s", about.Form, FormCholesky, FormSpectral)
	}
	m.eps = about.Eps
	return nil
}

// decodeChunklets reads the sizes of the chunklets and the places of their points. In a model
// that grew these are the chunklets of the fit, and the points of the updates follow.
func (m *metric) decodeChunklets(f *model.File, e *embedding, grown bool) error {
	places, err := indices(f, tensorChunklet, e.support.Len())
	if err != nil {
		return err
	}
	raw, err := f.Int64s(tensorSizes, -1)
	if err != nil {
		return err
	}
	sizes, total := make([]int, len(raw)), 0
	for c, q := range raw {
		if q < 1 || q > int64(len(places)-total) {
			return fault.Data("", "tensor %s: chunklet %d has %d points: want at least 1, and %d in all", tensorSizes, c, q, len(places))
		}
		sizes[c] = int(q)
		total += int(q)
	}
	if total != len(places) && !grown || total == len(sizes) {
		return fault.Data("", "tensor %s: %d chunklets of %d points: want %d points, and one chunklet of 2 or more", tensorSizes, len(sizes), total, len(places))
	}
	m.f = newHelmert(sizes)
	e.chunklet = places
	return nil
}

func (m *Model) decodeCholesky(f *model.File, about extra) error {
	r := m.metric.f.order()
	packed, err := finite(f, tensorFactor, r*(r+1)/2)
	if err != nil {
		return err
	}
	l := blas.NewMatrix(r, r)
	for i := range r {
		copy(l.Row(i), packed[:i+1])
		if !(l.At(i, i) > 0) {
			return fault.Data("", "tensor %s: diagonal element %d is %g: want a number > 0", tensorFactor, i, l.At(i, i))
		}
		packed = packed[i+1:]
	}
	m.metric.factor = l
	if err := m.embed.decodeOffset(f); err != nil {
		return err
	}
	if m.embed.weights, err = matrix(f, tensorWeights, m.embed.support.Len(), m.embed.dim()); err != nil {
		return err
	}
	return m.decodeReferences(f, about.References)
}

func (m *Model) decodeSpectral(f *model.File) error {
	values, err := finite(f, tensorValues, -1)
	if err != nil {
		return err
	}
	for i, s := range values {
		if !(s > 0) {
			return fault.Data("", "tensor %s: value %d is %g: want a number > 0", tensorValues, i, s)
		}
	}
	q, e := len(values), m.embed
	m.metric.values = values
	if m.metric.values == nil {
		m.metric.values = []float64{} // nil would mean the Cholesky form
	}
	if m.metric.basis, err = matrix(f, tensorBasis, m.metric.f.order(), q); err != nil {
		return err
	}
	if err := e.decodeOffset(f); err != nil {
		return err
	}
	if e.directions, err = matrix(f, tensorDirection, q, e.dim()); err != nil {
		return err
	}
	if !f.Has(tensorRefs) && !f.Has(tensorRefC) && !f.Has(tensorWeights) {
		return nil // no residuals
	}
	if e.reference, err = indices(f, tensorRefs, e.support.Len()); err != nil {
		return err
	}
	if e.referenceC, err = matrix(f, tensorRefC, len(e.reference), q); err != nil {
		return err
	}
	e.weights, err = matrix(f, tensorWeights, len(e.reference), e.dim())
	return err
}

func (e *embedding) decodeOffset(f *model.File) error {
	var err error
	if e.offset, err = finite(f, tensorOffset, -1); err == nil && len(e.offset) == 0 {
		err = fault.Data("", "tensor %s is empty: want at least one dimension", tensorOffset)
	}
	return err
}

// decodePoints reads the stored points, of whichever kind they are.
func decodePoints(f *model.File, about extra) (points.Points, error) {
	dim := about.InputDim
	if dim < 0 || dim > math.MaxInt32 {
		return nil, fault.Data("", "header of the model: input_dim is %d: want 0 to %d", dim, math.MaxInt32)
	}
	switch {
	case f.Has(tensorDense):
		data, err := finite(f, tensorDense, -1, dim)
		if err != nil {
			return nil, err
		}
		shape, err := f.Dims(tensorDense, 2)
		if err != nil {
			return nil, err
		}
		return points.NewDense(shape[0], dim, data)
	case f.Has(tensorLetters):
		return decodeSequences(f, about.Alphabet)
	case f.Has(tensorStart):
		return decodeSparse(f, dim)
	default:
		return decodeGram(f, dim)
	}
}

func decodeSparse(f *model.File, dim int) (points.Points, error) {
	values, err := finite(f, tensorValue, -1)
	if err != nil {
		return nil, err
	}
	start, err := indices(f, tensorStart, len(values)+1)
	if err != nil {
		return nil, err
	}
	column, err := indices(f, tensorColumn, dim)
	if err != nil {
		return nil, err
	}
	narrow := make([]int32, len(column))
	for i, c := range column {
		narrow[i] = int32(c)
	}
	return points.NewCSR(len(start)-1, dim, start, narrow, values)
}

func decodeSequences(f *model.File, alphabet string) (points.Points, error) {
	letters, err := f.Bytes(tensorLetters, -1)
	if err != nil {
		return nil, err
	}
	start, err := indices(f, tensorStart, len(letters)+1)
	if err != nil {
		return nil, err
	}
	return points.NewSequences(alphabet, start, letters)
}

func decodeGram(f *model.File, dim int) (points.Points, error) {
	reference, err := indices(f, tensorReference, dim)
	if err != nil {
		return nil, err
	}
	diagonal, err := finite(f, tensorDiagonal, len(reference))
	if err != nil {
		return nil, err
	}
	return &points.Gram{N: len(reference), M: dim, Diagonal: diagonal, Reference: reference}, nil
}

// indices returns an index tensor whose values must lie in 0..limit-1.
func indices(f *model.File, name string, limit int) ([]int, error) {
	raw, err := f.Int64s(name, -1)
	if err != nil {
		return nil, err
	}
	out := make([]int, len(raw))
	for i, v := range raw {
		if v < 0 || v >= int64(limit) {
			return nil, fault.Data("", "tensor %s: element %d is %d: want 0 to %d", name, i, v, limit-1)
		}
		out[i] = int(v)
	}
	return out, nil
}

// finite returns a tensor of the given shape whose values must be finite.
func finite(f *model.File, name string, shape ...int) ([]float64, error) {
	data, err := f.Float64s(name, shape...)
	if err != nil {
		return nil, err
	}
	for i, v := range data {
		if v-v != 0 {
			return nil, fault.Data("", "tensor %s: element %d is %v: want a finite number", name, i, v)
		}
	}
	return data, nil
}

func matrix(f *model.File, name string, rows, cols int) (blas.Matrix, error) {
	data, err := finite(f, name, rows, cols)
	if err != nil {
		return blas.Matrix{}, err
	}
	return blas.Matrix{Rows: rows, Cols: cols, Stride: max(1, cols), Data: data}, nil
}
