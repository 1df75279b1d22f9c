package llma

import (
	"context"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/expansion"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/places"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Model is a linear map that windows bend. It is immutable and safe for concurrent use.
type Model struct {
	flat   linear.Map
	bent   *expansion.Map
	params Params
	status algorithms.Status
}

var (
	_ algorithms.Model     = (*Model)(nil)
	_ algorithms.Inputs    = (*Model)(nil)
	_ algorithms.Describer = (*Model)(nil)
)

// newModel returns the map y = A' (f(x) - means), f the unknowns.
func newModel(eng *engine.Engine, p parts, a blas.Matrix) *Model {
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
	centre := make([]float64, dims)
	eng.Backend().Gemv(false, 1, v, p.means[d:], 0, centre)
	return &Model{flat: p.principal.Map(eng, Method, b), bent: expansion.NewCentred(Method, p.window, p.anchors, v, centre)}
}

// Method returns "llma".
func (m *Model) Method() string { return Method }

// Status says how the fit ended.
func (m *Model) Status() algorithms.Status { return m.status }

// Dim returns the number of columns of Embed.
func (m *Model) Dim() int { return m.flat.Dim() }

// InputDim returns the number of features of the points that it takes.
func (m *Model) InputDim() int { return m.flat.InputDim() }

// Kernel returns the window, without bandwidth rules.
func (m *Model) Kernel() kernel.Kernel { return m.bent.Kernel() }

// Embed maps n points to n x Dim coordinates, exactly.
// Cost a point: as many Gaussian windows as there are anchors, and 2 (d + anchors) Dim flops. Errors: other
// than dense vectors of the dimension of the fit, values that are not finite; a result above the memory
// limit; ctx.Err().
func (m *Model) Embed(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix, error) {
	y, err := m.flat.Embed(ctx, eng, x)
	if err != nil {
		return y, err
	}
	z, err := m.bent.Embed(ctx, eng, x)
	if err != nil {
		return y, err
	}
	eng.Backend().Kernels().Axpy(1, z.Data, y.Data)
	return y, nil
}

// EmbedSingle is [Model.Embed] in single precision, as algorithms.SingleEmbedder says.
func (m *Model) EmbedSingle(ctx context.Context, eng *engine.Engine, x *points.Single) (blas.Matrix32, error) {
	y, err := m.flat.EmbedSingle(ctx, eng, x)
	if err != nil {
		return y, err
	}
	z, err := m.bent.EmbedSingle(ctx, eng, x)
	for i, v := range z.Data {
		y.Data[i] += v
	}
	return y, err
}

func (m *Model) embed(ctx context.Context, eng *engine.Engine) places.Embed {
	return func(x points.Points) (blas.Matrix, error) { return m.Embed(ctx, eng, x) }
}

// Gram evaluates the learned kernel, the inner products of embedded points. A nil y means x.
// Cost: that of embedding x and y, and 2 |x| |y| Dim flops. Errors as for Embed.
func (m *Model) Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	return places.Gram(ctx, eng, x, y, m.Dim(), m.embed(ctx, eng))
}

// Distances returns the squared learned distance of each pair of rows of x. A row out of range is a *fault.DataError whose
// Row is the number of the pair.
// Cost: that of embedding x, and Dim flops a pair.
func (m *Model) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
	return places.Distances(eng, x, pairs, m.embed(ctx, eng))
}

// Describe returns the figures of the model.
func (m *Model) Describe() []algorithms.Figure {
	return []algorithms.Figure{
		{Name: "window", Value: m.Kernel().String()},
		{Name: "anchors", Value: m.bent.Support()},
		{Name: "dim", Value: m.Dim()},
	}
}

// Encode stores the model in f.
// An error is one of encoding its header. O(size of the model); slices are shared, not copied.
func (m *Model) Encode(f *model.File) error {
	m.flat.Encode(f)
	return stored.SetHeader(f, Method, m.params, m.status, m.bent.Encode(f))
}

// Decode rebuilds the model that [Model.Encode] stored. A tensor or a part of the header that cannot be used is
// a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m, about := &Model{}, expansion.About{}
	err := stored.Header(f, Method, &m.params, &m.status, &about)
	if err != nil {
		return nil, err
	}
	if err := m.params.Validate(); err != nil {
		return nil, stored.InHeader(err)
	}
	if m.flat, err = linear.Decode(Method, f); err != nil {
		return nil, err
	}
	if m.bent, err = expansion.Decode(Method, f, about); err != nil {
		return nil, err
	}
	if a, b := m.flat.Dim(), m.bent.Dim(); a != b || m.flat.InputDim() != m.bent.InputDim() {
		return nil, fault.Data("", "the linear part has %d directions of %d features, the windows %d of %d", a, m.flat.InputDim(), b, m.bent.InputDim())
	}
	return m, nil
}
