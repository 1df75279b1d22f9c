package kbeta

import (
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Names of the tensors in a model file, beside those of points.
const (
	tensorMu      = "kbeta.mu"      // [q]
	tensorVectors = "kbeta.vectors" // [q, m]
	tensorD       = "kbeta.d"       // [q]
	tensorBeta    = "kbeta.beta"    // [q]
	tensorMeans   = "kbeta.means"   // [m]
	tensorBetween = "kbeta.between" // [m, m], with rows of a Gram matrix
)

// extra is what the header holds beside parameters and kernel.
type extra struct {
	InputDim int       `json:"input_dim"`
	Alphabet string    `json:"alphabet,omitempty"`
	Far      []FarPair `json:"far,omitempty"`
}

// Encode stores the model in f.
func (m *Model) Encode(f *model.File) error {
	f.Header.Kernel = m.kernel.String()
	if err := stored.SetHeader(f, Method, m.params, m.status, extra{m.InputDim(), m.Alphabet(), m.far}); err != nil {
		return err
	}
	stored.Encode(f, m.support)
	f.SetFloat64s(tensorMu, m.mu)
	stored.SetMatrix(f, tensorVectors, m.v)
	f.SetFloat64s(tensorD, m.d)
	f.SetFloat64s(tensorBeta, m.beta)
	f.SetFloat64s(tensorMeans, m.means)
	if m.between.Data != nil {
		stored.SetMatrix(f, tensorBetween, m.between)
	}
	return nil
}

// Decode rebuilds the model that [Model.Encode] stored. A tensor that is missing, misshapen or out
// of range, or not finite, is a *fault.DataError. The model shares the tensors' memory.
func Decode(f *model.File) (*Model, error) {
	m, about := &Model{}, extra{}
	err := stored.Header(f, Method, &m.params, &m.status, &about)
	if err != nil {
		return nil, err
	}
	if err := m.params.Validate(); err != nil {
		return nil, stored.InHeader(err)
	}
	if m.kernel, err = stored.Kernel(f); err != nil {
		return nil, err
	}
	m.far = about.Far
	if m.support, err = stored.Decode(f, about.InputDim, about.Alphabet); err != nil {
		return nil, err
	}
	if err := m.decodeSpectrum(f); err != nil {
		return nil, err
	}
	m.prepare()
	return m, nil
}

func (m *Model) decodeSpectrum(f *model.File) (err error) {
	if m.mu, err = stored.Finite(f, tensorMu, -1); err != nil {
		return err
	}
	count, q := m.support.Len(), len(m.mu)
	if m.params.Neighbors >= count && m.params.Extension == Reconstruction || q == 0 {
		return fault.Data("", "a model of %d landmarks and %d directions: want more landmarks than the %d neighbours, and a direction", count, q, m.params.Neighbors)
	}
	if m.v, err = stored.Matrix(f, tensorVectors, q, count); err != nil {
		return err
	}
	if m.d, err = stored.Finite(f, tensorD, q); err != nil {
		return err
	}
	if m.beta, err = stored.Finite(f, tensorBeta, q); err != nil {
		return err
	}
	for r := range m.beta {
		if !(m.mu[r] > 0) || !(m.beta[r] >= 0) || !(m.d[r] >= 0) {
			return fault.Data("", "tensors %s, %s and %s: element %d is %g, %g and %g: want mu > 0, others >= 0", tensorMu, tensorBeta, tensorD, r, m.mu[r], m.beta[r], m.d[r])
		}
	}
	if m.means, err = stored.Finite(f, tensorMeans, count); err != nil {
		return err
	}
	m.between = blas.Matrix{}
	if _, isGram := m.support.(*points.Gram); isGram {
		m.between, err = stored.Matrix(f, tensorBetween, count, count)
	}
	return err
}
