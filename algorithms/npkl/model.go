package npkl

import (
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
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
	*graphkernel.Extension
	params Params
	status algorithms.Status
	trace  []float64
	links  *links.Set // that it has learned
	about  about
}

var (
	_ algorithms.Model     = (*Model)(nil)
	_ algorithms.Inputs    = (*Model)(nil)
	_ algorithms.Describer = (*Model)(nil)
	_ algorithms.Objective = (*Model)(nil)
	_ algorithms.Trace     = (*Model)(nil)
	_ algorithms.Spectral  = (*Model)(nil)
	_ algorithms.Linker    = (*Model)(nil)
)

// about is what the header holds beside parameters and kernel.
type about struct {
	graphkernel.About
	Certified bool    `json:"certified"`
	Gap       float64 `json:"gap"` // -1: unknown
}

const tensorTrace = "npkl.trace" // [sweeps]

// Method returns "npkl".
func (m *Model) Method() string { return Method }

// Status says how the fit ended.
func (m *Model) Status() algorithms.Status { return m.status }

// Trace returns the objective after every sweep. It falls, but where a dimension was added.
func (m *Model) Trace() []float64 { return slices.Clone(m.trace) }

// Objective returns the last objective.
func (m *Model) Objective() float64 { return m.trace[len(m.trace)-1] }

// Certified says whether the kernel matrix was shown to be the optimum among all, to rounding and the
// tolerance.
func (m *Model) Certified() bool { return m.about.Certified }

// Spectra returns the eigenvalues of the kernel matrix.
func (m *Model) Spectra() []algorithms.Spectrum {
	return []algorithms.Spectrum{{Name: "eigenvalues of the kernel matrix", Values: m.Eigenvalues()}}
}

// Describe returns the figures of the model.
func (m *Model) Describe() []algorithms.Figure {
	gap := any(m.about.Gap)
	if m.about.Gap < 0 {
		gap = "unknown"
	}
	return []algorithms.Figure{
		{Name: "loss", Value: string(m.params.Loss)},
		{Name: "graph", Value: string(m.params.Graph)},
		{Name: "kernel", Value: m.Kernel().String()},
		{Name: "points", Value: m.Places().Rows},
		{Name: "dim", Value: m.Dim()},
		{Name: "objective", Value: m.Objective()},
		{Name: "certified optimum", Value: m.about.Certified},
		{Name: "gap to the optimum, at most", Value: gap},
		{Name: "eigenvalues of the kernel matrix", Value: m.Eigenvalues()},
	}
}

// Encode stores the model in f.
// An error is one of encoding its header. O(size of the model); slices are shared, not copied.
func (m *Model) Encode(f *model.File) error {
	about := m.about
	about.About = m.Extension.Encode(f)
	f.SetFloat64s(tensorTrace, m.trace)
	stored.SetLinks(f, Method, m.links)
	return stored.SetHeader(f, Method, m.params, m.status, about)
}

// Decode rebuilds the model that [Model.Encode] stored. A tensor or a part of the header that cannot be
// used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m := &Model{}
	err := stored.Header(f, Method, &m.params, &m.status, &m.about)
	if err != nil {
		return nil, err
	}
	if err := m.params.Validate(); err != nil {
		return nil, stored.InHeader(err)
	}
	if m.trace, err = stored.Finite(f, tensorTrace, -1); err != nil {
		return nil, err
	}
	if len(m.trace) == 0 {
		return nil, stored.Empty(tensorTrace)
	}
	if m.Extension, err = graphkernel.Decode(Method, f, m.about.About, m.params.Neighbourhood, 1+m.params.Delta); err != nil {
		return nil, err
	}
	m.links, err = stored.Links(f, Method, m.Places().Rows)
	return m, err
}
