package kbeta

import (
	"context"
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Model is the learned metric: the landmarks with their coordinates. It is immutable and safe for concurrent use. Embed maps points to their
// coordinates in the directions of the largest weights, Params.Dims of them; Gram and Distances are those in all directions. Cost of embedding
// for k neighbors of m landmarks and q directions: m distances, O(k^3 + k q) a point and iteration. The method is direct: it always converges.
type Model struct {
	*record.Model[Params]
	*metric
	all *maps.Map // into all directions
}

var _ algorithms.Linker = (*Model)(nil)

// Spectrum returns copies of the eigenvalues mu of the landmarks' centred kernel matrix, in
// descending order, of the weights beta and of D.
func (m *Model) Spectrum() (mu, beta, d []float64) {
	return slices.Clone(m.mu), slices.Clone(m.beta), slices.Clone(m.d)
}

// Spectra returns mu, beta and D, as [Model.Spectrum] does.
func (m *Model) Spectra() []algorithms.Spectrum {
	mu, beta, d := m.Spectrum()
	return []algorithms.Spectrum{{Name: "eigenvalue mu", Values: mu}, {Name: "weight beta", Values: beta}, {Name: "must-link spread D", Values: d}}
}

// Far returns the must-links that stay farthest, the farthest first.
func (m *Model) Far() []FarPair { return slices.Clone(m.far) }

// Objective returns the mean squared learned distance of the must-links.
func (m *Model) Objective() float64 {
	sum := 0.0
	for r, b := range m.beta {
		sum += b * b * m.d[r]
	}
	return sum
}

// Describe returns the figures of the model.
func (m *Model) Describe() []algorithms.Figure {
	far := make([]string, len(m.far))
	for i, f := range m.far {
		far[i] = fmt.Sprintf("%d-%d (%.2g)", f.I, f.J, f.Ratio)
	}
	return []algorithms.Figure{
		{Name: "kernel", Value: m.Kernel().String()},
		{Name: "landmarks", Value: m.support.Len()},
		{Name: "rank", Value: len(m.mu)},
		{Name: "dim", Value: m.Dim()},
		{Name: "extension", Value: string(m.params.Extension)},
		{Name: "mu", Value: m.mu},
		{Name: "beta", Value: m.beta},
		{Name: "D", Value: m.d},
		{Name: "must-links that stay far (of the mean squared distance)", Value: far},
	}
}

// Gram evaluates the learned kernel, |x| x |y|: inner products of coordinates. A nil y means x.
// Cost: that of embedding x and y, and 2 |x| |y| q flops. Errors as for Embed.
func (m *Model) Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	return m.all.Gram(ctx, eng, x, y)
}

// Distances returns the squared learned distance of each pair of rows of x. A row out of range is a *fault.DataError whose Row is the number of
// the pair. Cost: that of embedding x, and q flops a pair.
func (m *Model) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
	return m.all.Distances(ctx, eng, x, pairs)
}

// EmbedSingle is Model.Embed in single precision, as algorithms.SingleEmbedder says, for the extension nystrom; another one is a
// *fault.ParamError. Cost: 2 n m (d + Dim) flops for m landmarks.
func (m *Model) EmbedSingle(ctx context.Context, eng *engine.Engine, x *points.Single) (blas.Matrix32, error) {
	if m.Params().Extension != Nystrom {
		return blas.Matrix32{}, &fault.ParamError{Param: "precision", Value: "single", Want: "double for models of kbeta with extension=lle (single for those with extension=nystrom)"}
	}
	directions := m.order[:m.Dim()]
	turned, center := blas.NewMatrix(m.extension.Rows, len(directions)), make([]float64, len(directions))
	for c, r := range directions {
		center[c] = m.offset[r]
		for l := range turned.Rows {
			turned.Set(l, c, m.extension.At(l, r))
		}
	}
	return maps.Single(ctx, eng, Method, m.kernel, m.support, turned, center, x)
}
