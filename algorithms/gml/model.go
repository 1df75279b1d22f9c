package gml

import (
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/algorithms/internal/outofsample"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/formula"
	"github.com/mustlink/mustlink/engine/model"
)

// Model is a fitted metric. It is immutable and safe for concurrent use. For the priors rbf and
// datadep, Embed, documented at [algorithms.Model], costs the kernel values of a point with the m
// stored points and 2 m Dim flops; Gram and Distances cost those with the l linked points and 4 l^2
// flops (with all m points and 2 m l more for datadep), and are those of the learned kernel itself.
// For the spectral prior they are exact for the training points, whose coordinates are stored; a
// new point costs its distances to all of them and 2 k Dim flops for k neighbors.
type Model struct {
	*fitted.Traced[Params] // the objective of every round, which falls
	kept
	// nil if the model, or the file that it was read from, does not store the state for AddLinks
	warm *logdetmetric.WarmStart
}

// kept is what a model stores in addition to its map.
type kept struct {
	about   about
	weights []float64 // alpha of the spectral prior, theta of the data-dependent one
	// L of A = L L' for the spectral prior: coordinates are the rows of G L; empty if the file has
	// none
	factor blas.Matrix
}

var _ algorithms.Linker = (*Model)(nil)

// about is what the header has in addition to parameters, kernel, map and constraints.
type about struct {
	logdetmetric.Outcome
	Alpha float64 `json:"alpha,omitempty"` // of the rbf prior
}

const (
	tensorWeights = "gml.weights" // [r], of priors with eigenvectors
	// [r, r], of the spectral prior, lower triangle; not in files of earlier versions
	tensorFactor = "gml.factor"
)

// Residual returns the largest residual of the conditions of the optimum for the last prior.
func (m *Model) Residual() float64 { return m.about.Residual }

// Weights returns the weights of the eigenvectors: alpha of the spectral prior, which falls, or
// theta of the data-dependent one, which rises; nil for rbf.
func (m *Model) Weights() []float64 { return slices.Clone(m.weights) }

// Spectra returns the weights of the eigenvectors.
func (m *Model) Spectra() []algorithms.Spectrum {
	if m.weights == nil {
		return nil
	}
	return []algorithms.Spectrum{{Name: "weights of the Laplacian's eigenvectors", Values: m.Weights()}}
}

// Describe returns the statistics of the model.
func (m *Model) Describe() []algorithms.Statistic {
	statistics := append([]algorithms.Statistic{
		{Name: "prior", Value: string(m.Params().Prior)},
		{Name: "kernel", Value: m.Kernel().String()},
		{Name: "dim", Value: m.Dim()},
		{Name: "objective", Value: m.Objective()},
	}, m.about.Describe()...)
	if m.weights != nil {
		statistics = append(statistics,
			algorithms.Statistic{Name: "weights of the eigenvectors", Value: m.weights})
	}
	return append(statistics, m.Held()...)
}

// Formula returns the map as data, for the priors rbf and datadep; the spectral one is a
// *fault.ParamError.
func (m *Model) Formula() (formula.Map, error) {
	if p := m.Params().Prior; p == Spectral {
		return nil, &fault.ParamError{Param: "prior of the model", Value: string(p),
			Want: "rbf or datadep for a formula for new rows: fit gml again with prior=rbf"}
	}
	return m.Map.Formula()
}

// Encode stores the model in f.
func (m *Model) Encode(f *model.File) error {
	if m.factor.Data != nil {
		fitted.SetMatrix(f, tensorFactor, m.factor)
	}
	if m.weights != nil {
		f.SetFloat64s(tensorWeights, m.weights)
	}
	return m.EncodeWith(f, m.about, m.warm.Encode(f, Method))
}

// Decode rebuilds the model that [Model.Encode] stored. An invalid tensor or header is a
// *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m := &Model{}
	var err error
	if m.Traced, err = fitted.DecodeTraced[Params](Method, f, read, &m.about); err != nil {
		return nil, err
	}
	if m.Params().Prior != RBF {
		if m.weights, err = fitted.ReadFinite(f, tensorWeights, -1); err != nil {
			return nil, err
		}
	}
	if m.warm, err = logdetmetric.DecodeWarmStart(f, Method); err != nil {
		return nil, err
	}
	return m, m.decodeFactor(f)
}

// read reads the maps of all priors.
func read(method string, f *model.File) (*fitted.Map, error) {
	var p Params
	if err := fitted.ReadParams(f, &p); err != nil {
		return nil, err
	}
	if p.Prior != Spectral {
		return fitted.ReadExpansion(method, f)
	}
	if m, err := outofsample.ReadNystrom(method, f); m != nil || err != nil {
		return m, err
	}
	return outofsample.ReadBarycentric(method, f)
}

// decodeFactor reads the factor of the spectral prior. Without it, links cannot be added to the
// model.
func (m *Model) decodeFactor(f *model.File) (err error) {
	if m.Params().Prior != Spectral {
		return nil
	}
	if !f.Has(tensorFactor) {
		m.warm = nil
		return nil
	}
	if m.factor, err = fitted.ReadMatrix(f, tensorFactor, m.Dim(), m.Dim()); err != nil {
		return err
	}
	for i := range m.factor.Rows {
		if v := m.factor.At(i, i); !(v > 0) {
			return fault.Data("", "tensor %s: diagonal element %d is %g: want a number > 0", tensorFactor, i,
				v)
		}
	}
	return nil
}
