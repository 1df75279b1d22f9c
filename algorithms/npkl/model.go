package npkl

import (
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
)

// Model is a fitted kernel matrix and its extension to new points. It is immutable and safe for
// concurrent use. Embed, Gram and
// Distances, as [algorithms.Model] has them, are exact for the training points, whose places are stored; a new point takes
// its distances to all of them, to find its neighbours in the graph, and 2 Dim flops for each of these. A model of given
// similarities refuses new points with a *fault.DataError.
type Model struct {
	*record.Traced[Params]            // of sweeps: the objective falls, but where a dimension was added
	links                  *links.Set // that it has learned
	about                  about
}

var _ algorithms.Linker = (*Model)(nil)

// about is what the header holds besides parameters and kernel.
type about struct {
	Certified bool    `json:"certified"`
	Gap       float64 `json:"gap"` // -1: unknown
}

// Certified says whether the kernel matrix was shown to be the optimum among all, to rounding and the
// tolerance.
func (m *Model) Certified() bool { return m.about.Certified }

// Spectra returns the eigenvalues of the kernel matrix.
func (m *Model) Spectra() []algorithms.Spectrum { return graphkernel.Spectra(m.Map) }

// Describe returns the figures of the model.
func (m *Model) Describe() []algorithms.Figure {
	result := graphkernel.Result{Objective: m.Objective(), Gap: m.about.Gap}
	return graphkernel.Describe(m.Map, m.Model.Describe(), m.Params().Loss, m.Params().Graph, result, algorithms.Figure{Name: "certified optimum", Value: m.about.Certified})
}

// Encode stores the model in f.
func (m *Model) Encode(f *model.File) error {
	stored.SetLinks(f, Method, m.links)
	return m.EncodeWith(f, m.about)
}

// Decode rebuilds the model that [Model.Encode] stored. A tensor or a part of the header that cannot be
// used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m := &Model{}
	var err error
	if m.Traced, err = record.DecodeTraced[Params](Method, f, graphkernel.Read, &m.about); err != nil {
		return nil, err
	}
	m.links, err = stored.Links(f, Method, m.Places().Rows)
	return m, err
}
