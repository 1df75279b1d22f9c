package krca

import (
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
)

// Names of the tensors in a model file. Index tensors hold places in the stored points.
const (
	tensorChunklet  = "chunklet.points"  // [n], chunklet after chunklet
	tensorSizes     = "chunklet.sizes"   // [#chunklets]
	tensorFactor    = "cholesky"         // [r(r+1)/2]: L by rows, packed
	tensorBasis     = "spectral.basis"   // [r, q]
	tensorValues    = "spectral.values"  // [q]
	tensorOffset    = "embed.offset"     // [dim]
	tensorWeights   = "embed.weights"    // [p, dim] (Cholesky) or [m, dim] (spectral)
	tensorDirection = "embed.directions" // [q, dim]
	tensorRefs      = "embed.reference"  // [m]
	tensorRefC      = "embed.reference_coordinates"
)

// extra holds the members of the header apart from parameters and kernel.
type extra struct {
	Eps float64 `json:"eps"`
	// S is exactly n eps in an updated model, else 0 and left out.
	S    float64 `json:"s,omitempty"`
	Form Form    `json:"form"`
	// References is the number of reference points of the embedding where it must be known
	// (for updates, so in the Cholesky form) and is not that of all stored points.
	References int `json:"references,omitempty"`
}

// Encode stores the model in f: method, kernel, parameters and status in the header, the
// rest in tensors. Each stored point is stored once; the others refer to it by its place.
func (m *Model) Encode(f *model.File) error {
	m.metric.encode(f)
	m.embed.encode(f, m.metric.spectral())
	m.growth.encode(f, m.metric.f)
	return m.EncodeWith(f, extra{m.metric.eps, m.growth.s, m.metric.form(), m.embed.chosen()})
}

func (m *metric) encode(f *model.File) {
	sizes := make([]int64, len(m.f.start)-1)
	for c := range sizes {
		sizes[c] = int64(m.f.start[c+1] - m.f.start[c])
	}
	f.SetInt64s(tensorSizes, sizes)
	if m.spectral() {
		fitted.SetMatrix(f, tensorBasis, m.basis)
		f.SetFloat64s(tensorValues, m.values)
		return
	}
	fitted.SetTriangle(f, tensorFactor, m.factor)
}

func (e *embedding) encode(f *model.File, spectral bool) {
	f.SetInt64s(tensorChunklet, fitted.Int64s(e.chunklet))
	f.SetFloat64s(tensorOffset, e.offset)
	if spectral {
		fitted.SetMatrix(f, tensorDirection, e.directions)
	}
	if !spectral || len(e.reference) > 0 {
		fitted.SetMatrix(f, tensorWeights, e.weights)
	}
	if len(e.reference) > 0 {
		f.SetInt64s(tensorRefs, fitted.Int64s(e.reference))
		fitted.SetMatrix(f, tensorRefC, e.referenceC)
	}
	if e.chosen() > 0 {
		f.SetInt64s(tensorRefs, fitted.Int64s(e.landmarks))
	}
}

// chosen returns the number of landmarks, 0 when all stored points are.
func (e *embedding) chosen() int {
	if len(e.landmarks) == e.support.Len() {
		return 0
	}
	return len(e.landmarks)
}

// Decode rebuilds the model that [Model.Encode] stored. Every shape, index and number is
// checked: a tensor that is missing, misshapen or out of range, or not finite, is a
// *fault.DataError. The model shares the tensors' memory.
func Decode(f *model.File) (*Model, error) {
	out, about, table := &Model{metric: &metric{}, embed: &embedding{}}, extra{}, fitted.MapHeader{}
	var err error
	if out.Model, err = fitted.DecodeHeader[Params](Method, f, &about, &table); err != nil {
		return nil, err
	}
	if out.metric.kernel, out.embed.support, err = fitted.ReadSupport(f, table); err != nil {
		return nil, err
	}
	if err := out.metric.decodeHeader(about); err != nil {
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
	out.metric.anchors = fitted.SelectPoints(out.embed.support, out.embed.chunklet)
	out.Map = out.embed.extended(out.metric)
	return out, nil
}

func (m *metric) decodeHeader(about extra) error {
	if !(about.Eps > 0) || math.IsInf(about.Eps, 0) {
		return fault.Data("", "header of the model: eps is %g: want a finite number > 0", about.Eps)
	}
	if about.Form != FormCholesky && about.Form != FormSpectral {
		return fault.Data("", "header of the model: form is %q: want %s or %s", about.Form, FormCholesky,
			FormSpectral)
	}
	m.eps = about.Eps
	return nil
}

// decodeChunklets reads the sizes of the chunklets and the positions of their points. In a model
// that grew these are the chunklets of the fit, and the points of the updates follow.
func (m *metric) decodeChunklets(f *model.File, e *embedding, grown bool) error {
	positions, err := fitted.ReadIndices(f, tensorChunklet, e.support.Len())
	if err != nil {
		return err
	}
	raw, err := f.Int64s(tensorSizes, -1)
	if err != nil {
		return err
	}
	sizes, total := make([]int, len(raw)), 0
	for c, q := range raw {
		if q < 1 || q > int64(len(positions)-total) {
			return fault.Data("", "tensor %s: chunklet %d has %d points: want at least 1, and %d in all",
				tensorSizes, c, q, len(positions))
		}
		sizes[c] = int(q)
		total += int(q)
	}
	if total != len(positions) && !grown || total == len(sizes) {
		return fault.Data("",
			"tensor %s: %d chunklets of %d points: want %d points, and one chunklet of 2 or more",
			tensorSizes, len(sizes), total, len(positions))
	}
	m.f = newHelmert(sizes)
	e.chunklet = positions
	return nil
}

func (m *Model) decodeCholesky(f *model.File, about extra) error {
	l, err := fitted.ReadTriangle(f, tensorFactor, m.metric.f.order())
	if err != nil {
		return err
	}
	for i := range l.Rows {
		if !(l.At(i, i) > 0) {
			return fault.Data("", "tensor %s: diagonal element %d is %g: want a number > 0", tensorFactor, i,
				l.At(i, i))
		}
	}
	m.metric.factor = l
	if err := m.embed.decodeOffset(f); err != nil {
		return err
	}
	if m.embed.weights, err = fitted.ReadMatrix(f, tensorWeights, m.embed.support.Len(),
		m.embed.dim()); err != nil {
		return err
	}
	return m.decodeReferences(f, about.References)
}

func (m *Model) decodeSpectral(f *model.File) error {
	values, err := fitted.ReadFinite(f, tensorValues, -1)
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
	if m.metric.basis, err = fitted.ReadMatrix(f, tensorBasis, m.metric.f.order(), q); err != nil {
		return err
	}
	if err := e.decodeOffset(f); err != nil {
		return err
	}
	if e.directions, err = fitted.ReadMatrix(f, tensorDirection, q, e.dim()); err != nil {
		return err
	}
	if !f.Has(tensorRefs) && !f.Has(tensorRefC) && !f.Has(tensorWeights) {
		return nil // no residuals
	}
	if e.reference, err = fitted.ReadIndices(f, tensorRefs, e.support.Len()); err != nil {
		return err
	}
	if e.referenceC, err = fitted.ReadMatrix(f, tensorRefC, len(e.reference), q); err != nil {
		return err
	}
	e.weights, err = fitted.ReadMatrix(f, tensorWeights, len(e.reference), e.dim())
	return err
}

func (e *embedding) decodeOffset(f *model.File) error {
	var err error
	if e.offset, err = fitted.ReadFinite(f, tensorOffset, -1); err == nil && len(e.offset) == 0 {
		err = fault.Data("", "tensor %s is empty: want at least one dimension", tensorOffset)
	}
	return err
}
