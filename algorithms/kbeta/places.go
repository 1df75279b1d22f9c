package kbeta

import (
	"context"

	"github.com/mustlink/mustlink/algorithms/internal/barycentric"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// rowsEach is the number of points that are placed at a time.
const rowsEach = 16384

// places calls f with the coordinates of points [lo, lo + y.Rows) of x, in all directions, block by
// block; y is scratch. Row i depends on point i alone.
func (m *Model) places(ctx context.Context, eng *engine.Engine, x points.Points, f func(lo int, y blas.Matrix) error) error {
	n := x.Len()
	for lo := 0; lo < n; lo += rowsEach {
		hi := min(lo+rowsEach, n)
		y := eng.GetMatrix(hi-lo, len(m.beta))
		err := m.block(ctx, eng, points.Slice(x, lo, hi), y)
		if err == nil {
			err = f(lo, y)
		}
		eng.PutMatrix(y)
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// block writes the coordinates of x to y.
func (m *Model) block(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix) error {
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
	learned := &points.Dense{N: m.p.Rows, D: m.p.Cols, Data: m.p.Data}
	for range m.params.Iterations - 1 {
		now := &points.Dense{N: y.Rows, D: y.Cols, Data: y.Data[:y.Rows*y.Cols]}
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

// rule says how points are reconstructed from landmarks of the given squared distances, in the feature space
// of k.
func (m *Model) rule(k kernel.Kernel, apart func(a, b int) float64) barycentric.Rule {
	return barycentric.Rule{Kernel: k, Neighbors: m.params.Neighbors, Reg: m.params.RegG, Apart: apart}
}

// sameness returns the squared distance from a landmark up to which each point differs from it by
// rounding only: a few units in the last place of what its expansion adds up.
func (m *Model) sameness(ctx context.Context, eng *engine.Engine, x points.Points) ([]float64, error) {
	self, err := m.kernel.Diagonal(ctx, eng, x)
	for i, v := range self {
		self[i] = 32 * 0x1p-52 * v
	}
	return self, err
}

// apartOrder is the number of landmarks up to which their distances are computed once.
const apartOrder = 2048

// apart returns the function of the squared distances between landmarks.
func (m *Model) apart(ctx context.Context, eng *engine.Engine) (func(a, b int) float64, error) {
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
func (m *Model) learnedApart(a, b int) float64 {
	sum, other := 0.0, m.p.Row(b)
	for r, v := range m.p.Row(a) {
		d := v - other[r]
		sum += d * d
	}
	return sum
}

// nystrom writes diag(beta / mu) V'k(x), k(x) centred, to y: the eigenvectors' extension to any
// point. Since eigenvectors sum to 0, of the centring only the landmarks' means are left.
func (m *Model) nystrom(ctx context.Context, eng *engine.Engine, x points.Points, y blas.Matrix) error {
	if err := m.kernel.MultiplyTo(ctx, eng, y, x, m.support, m.extension); err != nil {
		return err
	}
	t := eng.Backend().Kernels()
	for i := range y.Rows {
		t.Axpy(-1, m.offset, y.Row(i))
	}
	return ctx.Err()
}
