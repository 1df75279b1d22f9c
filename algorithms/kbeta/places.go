package kbeta

import (
	"context"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/lle"
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
	if err := m.reconstruct(ctx, eng, m.kernel, x, m.support, apart, same, y); err != nil {
		return err
	}
	if m.params.Iterations == 1 {
		return nil
	}
	learned := &points.Dense{N: m.p.Rows, D: m.p.Cols, Data: m.p.Data}
	for range m.params.Iterations - 1 {
		now := &points.Dense{N: y.Rows, D: y.Cols, Data: y.Data[:y.Rows*y.Cols]}
		next := eng.GetMatrix(y.Rows, y.Cols)
		err := m.reconstruct(ctx, eng, kernel.Linear(), now, learned, m.learnedApart, nil, next)
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

// reconstruct writes W P to y, where row i of W reconstructs point i of x from its nearest
// landmarks in the feature space of k; apart gives the squared distances of landmarks. A point that
// is no farther from a landmark than same says, nil for 0, is that landmark.
func (m *Model) reconstruct(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x, support points.Points, apart func(a, b int) float64, same []float64, y blas.Matrix) error {
	count := m.params.Neighbors
	near, err := graph.NearestBetween(ctx, eng, k, x, support, count)
	if err != nil {
		return err
	}
	// <x - a, x - b> = (|x - a|^2 + |x - b|^2 - |a - b|^2) / 2
	gram := func(i int, g []float64, stride int) {
		index, squared := near.Of(i)
		for a, j := range index {
			g[(a*count+a)*stride] = squared[a]
			for b := range a {
				g[(a*count+b)*stride] = 0.5 * (squared[a] + squared[b] - apart(int(j), int(index[b])))
			}
		}
	}
	w, err := lle.Weights(ctx, eng, x.Len(), count, gram, m.params.RegG)
	if err != nil {
		return err
	}
	t := eng.Backend().Kernels()
	return eng.For(ctx, x.Len(), 1024, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			index, squared := near.Of(i)
			to := y.Row(i)
			if squared[0] == 0 || same != nil && squared[0] <= same[i] {
				copy(to, m.p.Row(int(index[0])))
				continue
			}
			clear(to)
			for a, j := range index {
				t.Axpy(w.At(i, a), m.p.Row(int(j)), to)
			}
		}
		return nil
	})
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
