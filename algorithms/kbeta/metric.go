package kbeta

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/barycentric"
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// metric is the learned metric: the weights of the directions of landmarks. After settle it is
// immutable.
type metric struct {
	params  Params
	kernel  kernel.Kernel
	support points.Points // the landmarks
	mu      []float64     // eigenvalues of their centered kernel matrix, descending
	v       blas.Matrix   // q x m, their eigenvectors
	d, beta []float64     // D_rr and the weights
	means   []float64     // of the rows of the kernel matrix
	between blas.Matrix   // squared distances between the landmarks if they are rows of a Gram matrix
	far     []DistantMustLink
	rows    []int      // of the landmarks among the training points, ascending
	links   *links.Set // that the fit used; nil, like rows, if read from a file without them

	// Derived from the fields above.
	p         blas.Matrix // m x q, coordinates of the landmarks: V diag(beta)
	order     []int       // directions by weight, the largest first
	extension blas.Matrix // m x q, V diag(beta / mu)
	offset    []float64   // image of means under the map

	lock      sync.Mutex
	distances blas.Matrix // between landmarks, if they are few; computed on first use
}

// prepare computes the derived fields. It stays on one core, because it writes n q values, where
// decompose reads n^2 for each of the q directions.
func (m *metric) prepare() {
	count, q := m.support.Len(), len(m.mu)
	m.p, m.extension = blas.NewMatrix(count, q), blas.NewMatrix(count, q)
	m.offset, m.order = make([]float64, q), make([]int, q)
	scale := make([]float64, q)
	for r := range q {
		m.order[r], scale[r] = r, m.beta[r]/m.mu[r]
	}
	for i := range count {
		p, extension := m.p.Row(i), m.extension.Row(i)
		for r := range q {
			v := m.v.At(r, i)
			p[r], extension[r] = m.beta[r]*v, scale[r]*v
			m.offset[r] += scale[r] * v * m.means[i]
		}
	}
	slices.SortStableFunc(m.order, func(a, b int) int { return cmp.Compare(m.beta[b], m.beta[a]) })
}

// model returns the model of the metric.
func (m *metric) model(status algorithms.Status) *Model {
	dim := len(m.beta)
	if m.params.Dims > 0 {
		dim = min(m.params.Dims, dim)
	}
	return &Model{record.New(m.into(m.order[:dim]), m.params, status), m, m.everywhere()}
}

// everywhere returns the map into all directions, in their own order.
func (m *metric) everywhere() *maps.Map {
	all := make([]int, len(m.beta))
	for r := range all {
		all[r] = r
	}
	return m.into(all)
}

// into returns the map into the given directions.
func (m *metric) into(directions []int) *maps.Map {
	return maps.Extended(Method, maps.Table{Kernel: m.kernel, Support: m.support, Dim: len(directions)}, extension{m, directions})
}

// extension is the map into some directions of a metric.
type extension struct {
	*metric
	directions []int
}

// Begin returns the function that writes the coordinates of points. Row i depends on point i alone.
func (e extension) Begin(ctx context.Context, eng *engine.Engine) (maps.Block, error) {
	return func(x points.Points, to blas.Matrix) error {
		y := eng.GetMatrix(x.Len(), len(e.beta))
		defer eng.PutMatrix(y)
		if err := e.block(ctx, eng, x, y); err != nil {
			return err
		}
		return eng.Each(ctx, y.Rows, 1024, func(i int) {
			from, row := y.Row(i), to.Row(i)
			for c, r := range e.directions {
				row[c] = from[r]
			}
		})
	}, nil
}

// block writes the coordinates of x to y.
func (m *metric) block(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix) error {
	if m.params.Extension == Nystrom {
		return m.nystrom(ctx, eng, x, y)
	}
	apart, err := m.apart(ctx, eng)
	if err != nil {
		return err
	}
	same, err := m.sameness(ctx, eng, x)
	if err != nil {
		return err
	}
	if err := m.rule(m.kernel, apart).Reconstruct(ctx, eng, x, m.support, m.p, same, y); err != nil {
		return err
	}
	if m.params.Iterations == 1 {
		return nil
	}
	learned := kernel.Rows(m.p)
	for range m.params.Iterations - 1 {
		now := kernel.Rows(y)
		next := eng.GetMatrix(y.Rows, y.Cols)
		err := m.rule(kernel.Linear(), m.learnedApart).Reconstruct(ctx, eng, now, learned, m.p, nil, next)
		if err == nil {
			y.CopyFrom(next)
		}
		eng.PutMatrix(next)
		if err != nil {
			return err
		}
	}
	return nil
}

// rule returns how points are reconstructed from landmarks with the given squared distances, in the
// feature space of k.
func (m *metric) rule(k kernel.Kernel, apart func(a, b int) float64) barycentric.Rule {
	return barycentric.Rule{Kernel: k, Neighbors: m.params.Neighbors, Reg: m.params.RegG, Apart: apart}
}

// sameness returns, for each point, the squared distance up to which a landmark differs from it
// only by rounding: a few units in the last place of the terms of its expansion.
func (m *metric) sameness(ctx context.Context, eng *engine.Engine, x points.Points) ([]float64, error) {
	self, err := m.kernel.Diagonal(ctx, eng, x)
	for i, v := range self {
		self[i] = 32 * 0x1p-52 * v
	}
	return self, err
}

// apartOrder is the number of landmarks up to which their distances are computed once.
const apartOrder = 2048

// apart returns the function of the squared distances between landmarks.
func (m *metric) apart(ctx context.Context, eng *engine.Engine) (func(a, b int) float64, error) {
	if m.between.Data != nil {
		return m.between.At, nil
	}
	if m.support.Len() > apartOrder {
		return m.kernel.Squared().Values(ctx, eng, m.support)
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.distances.Data == nil {
		d, err := m.kernel.SquaredDistances(ctx, eng, m.support)
		if err != nil {
			return nil, err
		}
		m.distances = d
	}
	return m.distances.At, nil
}

// learnedApart returns the squared learned distance of two landmarks.
func (m *metric) learnedApart(a, b int) float64 {
	sum, other := 0.0, m.p.Row(b)
	for r, v := range m.p.Row(a) {
		d := v - other[r]
		sum += d * d
	}
	return sum
}

// nystrom writes diag(beta / mu) V'k(x), with k(x) centered, to y: the extension of the
// eigenvectors to any point. Eigenvectors sum to 0, so only the landmarks' means remain of the
// centering.
func (m *metric) nystrom(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix) error {
	if err := m.kernel.MultiplyTo(ctx, eng, y, x, m.support, m.extension); err != nil {
		return err
	}
	t := eng.Backend().Kernels()
	return eng.Each(ctx, y.Rows, 1024, func(i int) { t.Axpy(-1, m.offset, y.Row(i)) })
}
