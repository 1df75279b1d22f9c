package gml

import (
	"context"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/barycentric"
	"github.com/mustlink/mustlink/algorithms/internal/expansion"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/algorithms/internal/nystrom"
	"github.com/mustlink/mustlink/algorithms/internal/places"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// metric is the map of a model: an expansion in kernel values, or places among those of training points.
type metric interface {
	places.Map
	Alphabet() string
	Kernel() kernel.Kernel
}

// Model is a fitted metric. It is immutable and safe for concurrent use. Embed, Gram and Distances, as [algorithms.Model] has
// them, take the kernel values of a point with the m stored points and 2 m Dim flops for the priors rbf and datadep. For
// the spectral prior they are exact for the training points, whose places are stored, and a new point takes its distances
// to all of them and 2 k Dim flops for k neighbours.
type Model struct {
	metric
	params  Params
	status  algorithms.Status
	trace   []float64
	weights []float64 // alpha of the spectral prior, theta of the data-dependent one
	about   about
	taught  *logdetmetric.Taught // nil if it, or the file that it is from, does not hold what more links go on from
	factor  blas.Matrix          // L of A = L L' for the spectral prior: places are the rows of G L; no data from such a file
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
	barycentric.About
	Nystrom *nystrom.About `json:"nystrom,omitempty"`
	logdetmetric.Bounds
	logdetmetric.AboutTaught
	Residual float64 `json:"kkt"`
	Skipped  int     `json:"skipped"`
	Alpha    float64 `json:"alpha,omitempty"` // of the rbf prior
}

const (
	tensorTrace   = "gml.trace"   // [rounds]
	tensorWeights = "gml.weights" // [r], of priors with eigenvectors
	tensorFactor  = "gml.factor"  // [r, r], of the spectral prior, lower triangle; not in files of earlier versions
)

// Method returns "gml".
func (m *Model) Method() string { return Method }

// Status says how the fit ended.
func (m *Model) Status() algorithms.Status { return m.status }

// Trace returns the objective after every round; it falls.
func (m *Model) Trace() []float64 { return slices.Clone(m.trace) }

// Objective returns the last objective.
func (m *Model) Objective() float64 { return m.trace[len(m.trace)-1] }

// Residual returns the largest residual of the conditions of the optimum for the last prior.
func (m *Model) Residual() float64 { return m.about.Residual }

// Weights returns those of the eigenvectors: alpha of the spectral prior, which falls, theta of the data-dependent
// one, which rises; nil for rbf.
func (m *Model) Weights() []float64 { return slices.Clone(m.weights) }

// Places returns those of the training points for the spectral prior, n x Dim; they are shared: do not change them. An empty
// matrix for other priors.
func (m *Model) Places() blas.Matrix {
	if t, ok := m.metric.(interface{ Places() blas.Matrix }); ok {
		return t.Places()
	}
	return blas.Matrix{}
}

// Spectra returns the weights of the eigenvectors.
func (m *Model) Spectra() []algorithms.Spectrum {
	if m.weights == nil {
		return nil
	}
	return []algorithms.Spectrum{{Name: "weights of the Laplacian's eigenvectors", Values: m.Weights()}}
}

// Describe returns the figures of the model.
func (m *Model) Describe() []algorithms.Figure {
	figures := []algorithms.Figure{
		{Name: "prior", Value: string(m.params.Prior)},
		{Name: "kernel", Value: m.Kernel().String()},
		{Name: "dim", Value: m.Dim()},
		{Name: "bound of must-links", Value: m.about.Upper},
		{Name: "bound of cannot-links", Value: m.about.Lower},
		{Name: "objective", Value: m.Objective()},
		{Name: "residual of the optimum's conditions", Value: m.about.Residual},
		{Name: "links between points in one place", Value: m.about.Skipped},
	}
	if m.weights != nil {
		figures = append(figures, algorithms.Figure{Name: "weights of the eigenvectors", Value: m.weights})
	}
	return figures
}

// EmbedSingle is Embed in single precision, as algorithms.SingleEmbedder says, for the priors rbf and datadep; the places of the
// spectral one are a *fault.ParamError.
func (m *Model) EmbedSingle(ctx context.Context, eng *engine.Engine, x *points.Single) (blas.Matrix32, error) {
	return places.EmbedSingle(ctx, eng, m.metric, x)
}

// Encode stores the model in f.
func (m *Model) Encode(f *model.File) error {
	head := m.about
	head.AboutTaught = m.taught.Encode(f, Method)
	switch t := m.metric.(type) {
	case *expansion.Map:
		e := t.Encode(f)
		head.InputDim, head.Alphabet = e.InputDim, e.Alphabet
	case *barycentric.Extension:
		head.About = t.Encode(f)
	case *nystrom.Extension:
		e := t.Encode(f)
		head.Nystrom = &e
	}
	if m.factor.Data != nil {
		stored.SetMatrix(f, tensorFactor, m.factor)
	}
	if m.weights != nil {
		f.SetFloat64s(tensorWeights, m.weights)
	}
	f.SetFloat64s(tensorTrace, m.trace)
	return stored.SetHeader(f, Method, m.params, m.status, head)
}

// Decode rebuilds the model that [Model.Encode] stored. A tensor or a part of the header that cannot
// be used is a *fault.DataError.
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
	if m.params.Prior != RBF {
		if m.weights, err = stored.Finite(f, tensorWeights, -1); err != nil {
			return nil, err
		}
	}
	if m.metric, err = m.decodeMetric(f); err != nil {
		return nil, err
	}
	if m.taught, err = logdetmetric.DecodeTaught(f, Method, m.about.AboutTaught); err != nil {
		return nil, err
	}
	return m, m.decodeFactor(f)
}

func (m *Model) decodeMetric(f *model.File) (metric, error) {
	switch {
	case m.params.Prior != Spectral:
		return expansion.Decode(Method, f, expansion.About{InputDim: m.about.InputDim, Alphabet: m.about.Alphabet})
	case m.about.Nystrom != nil:
		return nystrom.Decode(Method, f, *m.about.Nystrom)
	}
	return barycentric.Decode(Method, f, m.about.About)
}

// decodeFactor reads the factor of the spectral prior; without one the model does not take more links.
func (m *Model) decodeFactor(f *model.File) (err error) {
	if m.params.Prior != Spectral {
		return nil
	}
	if !f.Has(tensorFactor) {
		m.taught = nil
		return nil
	}
	if m.factor, err = stored.Matrix(f, tensorFactor, m.Dim(), m.Dim()); err != nil {
		return err
	}
	for i := range m.factor.Rows {
		if v := m.factor.At(i, i); !(v > 0) {
			return fault.Data("", "tensor %s: diagonal element %d is %g: want a number > 0", tensorFactor, i, v)
		}
	}
	return nil
}
