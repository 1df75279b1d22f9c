package krca

import (
	"github.com/mustlink/mustlink/algorithms/internal/stored"
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

// extra is what the header holds beside parameters and kernel.
type extra struct {
	Eps float64 `json:"eps"`
	// S is n eps to the bit in a model that was updated, else it is left out.
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
		stored.SetMatrix(f, tensorBasis, m.basis)
		f.SetFloat64s(tensorValues, m.values)
		return
	}
	r := m.factor.Rows
	packed := make([]float64, 0, r*(r+1)/2)
	for i := range r {
		packed = append(packed, m.factor.Row(i)[:i+1]...)
	}
	f.SetFloat64s(tensorFactor, packed)
}

func (e *embedding) encode(f *model.File, spectral bool) {
	f.SetInt64s(tensorChunklet, stored.Int64s(e.chunklet))
	f.SetFloat64s(tensorOffset, e.offset)
	if spectral {
		stored.SetMatrix(f, tensorDirection, e.directions)
	}
	if !spectral || len(e.reference) > 0 {
		stored.SetMatrix(f, tensorWeights, e.weights)
	}
	if len(e.reference) > 0 {
		f.SetInt64s(tensorRefs, stored.Int64s(e.reference))
		stored.SetMatrix(f, tensorRefC, e.referenceC)
	}
	if e.chosen() > 0 {
		f.SetInt64s(tensorRefs, stored.Int64s(e.landmarks))
	}
}

// chosen returns the number of landmarks, 0 when all stored points are.
func (e *embedding) chosen() int {
	if len(e.landmarks) == e.support.Len() {
		return 0
	}
	return len(e.landmarks)
}
