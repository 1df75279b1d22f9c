package kbeta

import (
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/algorithms/internal/record"
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
	tensorRows    = "kbeta.rows"    // [m], of the landmarks among the training points; with links, not in files of earlier versions
)

// extra is what the header holds besides parameters and kernel.
type extra struct {
	maps.About
	Far    []FarPair `json:"far,omitempty"`
	Points int       `json:"points,omitempty"` // that it was fitted on
}

// Encode stores the metric, the same for all directions.
func (m extension) Encode(f *model.File, _ string, table maps.About) any {
	head := extra{table, m.far, 0}
	if m.links != nil {
		head.Points = m.links.N()
		f.SetInt64s(tensorRows, stored.Int64s(m.rows))
		stored.SetLinks(f, Method, m.links)
	}
	f.SetFloat64s(tensorMu, m.mu)
	stored.SetMatrix(f, tensorVectors, m.v)
	f.SetFloat64s(tensorD, m.d)
	f.SetFloat64s(tensorBeta, m.beta)
	f.SetFloat64s(tensorMeans, m.means)
	if m.between.Data != nil {
		stored.SetMatrix(f, tensorBetween, m.between)
	}
	return head
}

// Decode rebuilds a model from its file. A tensor that is missing, misshapen or out
// of range, or not finite, is a *fault.DataError. The model shares the tensors' memory.
func Decode(f *model.File) (*Model, error) {
	var head extra
	r, err := record.DecodeHeader[Params](Method, f, &head)
	if err != nil {
		return nil, err
	}
	m := &metric{params: r.Params(), far: head.Far}
	if m.kernel, m.support, err = maps.ReadSupport(f, head.About); err != nil {
		return nil, err
	}
	if err := m.decodeSpectrum(f); err != nil {
		return nil, err
	}
	m.prepare()
	return m.model(r.Status()), m.decodeLinks(f, head.Points)
}

// decodeLinks reads the links between n points that the model has learned, and which of these are its landmarks, if they are there.
func (m *metric) decodeLinks(f *model.File, n int) error {
	if !f.Has(tensorRows) {
		return nil
	}
	rows, err := stored.Indices(f, tensorRows, n)
	if err != nil {
		return err
	}
	if len(rows) != m.support.Len() {
		return fault.Data("", "tensor %s has %d values: want %d, one for each landmark", tensorRows, len(rows), m.support.Len())
	}
	for p := 1; p < len(rows); p++ {
		if rows[p] <= rows[p-1] {
			return fault.Data("", "tensor %s: element %d is %d after %d: want rising rows", tensorRows, p, rows[p], rows[p-1])
		}
	}
	m.rows = rows
	m.links, err = stored.Links(f, Method, n)
	if err != nil {
		return err
	}
	return m.checkLandmarks(m.links)
}

func (m *metric) decodeSpectrum(f *model.File) (err error) {
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
