package llma

import (
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/model"
)

// Model is a linear map that windows bend. It is immutable and safe for concurrent use. Embed, Gram and Distances, as [algorithms.Model]
// has them, take as many Gaussian windows of a point as there are anchors, and 2 (d + anchors) Dim flops; Kernel is the window.
type Model struct{ *record.Model[Params] }

// bent returns the map y = A' (f(x) - means), f the unknowns.
func bent(eng *engine.Engine, p parts, a blas.Matrix) *maps.Map {
	d, dims := p.principal.Z.Cols, a.Cols // principal coordinates have the mean 0
	b, v := blas.NewMatrix(dims, d), blas.NewMatrix(dims, p.anchors.Len())
	for r := range dims {
		for c := range d {
			b.Set(r, c, a.At(c, r))
		}
		for c := range p.anchors.Len() {
			v.Set(r, c, a.At(d+c, r))
		}
	}
	center := make([]float64, dims)
	eng.Backend().Gemv(false, 1, v, p.means[d:], 0, center)
	return maps.Sum(p.principal.Map(eng, Method, b), maps.NewExpansion(Method, p.window, p.anchors, v, center))
}

// Describe returns the figures of the model.
func (m *Model) Describe() []algorithms.Figure {
	return []algorithms.Figure{
		{Name: "window", Value: m.Kernel().String()},
		{Name: "anchors", Value: m.Support()},
		{Name: "dim", Value: m.Dim()},
	}
}

// Decode rebuilds a model from its file. A tensor or a part of the header that cannot be used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m, err := record.Decode[Params](Method, f, maps.ReadSum)
	return &Model{m}, err
}
