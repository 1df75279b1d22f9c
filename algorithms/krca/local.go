package krca

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Local has a separate metric for every query: that of the nearest chunklets. So the variation
// within classes may differ between regions of the space (future work of Tsang, Cheung & Kwok
// 2005). It is immutable and safe for concurrent use.
type Local struct {
	params  Params
	kernel  kernel.Kernel
	anchors points.Points // in chunklets, chunklet after chunklet
	start   []int         // of every chunklet among them, and the end
	mean    float64       // of k(x,x) over the training points
	nearest int
}

// FitLocal prepares local metrics of a learner, each of the given number of nearest chunklets, from
// the points x and the must-links of set. It computes no metric: that happens for each query.
// Errors are those of Fit, and a *fault.ParamError for nearest < 1.
func FitLocal(ctx context.Context, eng *engine.Engine, l Learner, x points.Points, set *links.Set, nearest int) (
	*Local, error) {
	m, err := l.Params.fitLocal(ctx, l.Begin(eng, x, set), nearest)
	if err != nil {
		return nil, input.Failed(ctx, Method+": local metrics", err)
	}
	return m, nil
}

func (p Params) fitLocal(ctx context.Context, f *learner.Fit, nearest int) (*Local, error) {
	if nearest < 1 {
		return nil, &fault.ParamError{Param: "nearest", Value: nearest, Want: "a number of chunklets >= 1"}
	}
	chosen, err := p.chunklets(ctx, f, stages(f))
	if err != nil {
		return nil, err
	}
	k, err := input.Kernel(ctx, f.Eng, f.Kernel, f.X, DefaultKernel)
	if err != nil {
		return nil, err
	}
	diagonal, err := k.Diagonal(ctx, f.Eng, f.X)
	if err != nil {
		return nil, err
	}
	m := &Local{params: p, kernel: k, mean: kernel.Mean(diagonal), nearest: nearest, start: []int{0}}
	var rows []int
	for c, end := range chosen.f.start[1:] {
		if members := chosen.rows[chosen.f.start[c]:end]; len(members) > 1 { // one point tells nothing
			rows = append(rows, members...)
			m.start = append(m.start, len(rows))
		}
	}
	m.anchors = f.X.Select(rows)
	if _, err := p.epsilon(m.mean, len(rows)); err != nil {
		return nil, err
	}
	return m, ctx.Err()
}

// Chunklets returns the number of chunklets.
func (m *Local) Chunklets() int { return len(m.start) - 1 }

// Distances returns the squared distances of some rows of x, the queries, to all rows of x, each in
// the metric of its query: |queries| x |x|. The distance of a chunklet is that of its nearest point
// in the feature space. With n points and r + #chunklets points in the nearest chunklets, a query
// takes n r kernel values and n r^2 flops.
//
// Errors: rows that do not exist; points of another kind or dimension than the training points; a
// request above the memory limit; ctx.Err(), wrapped.
func (m *Local) Distances(ctx context.Context, eng *engine.Engine, x points.Points, queries []int) (blas.Matrix, error) {
	if err := m.check(eng, x, queries); err != nil {
		return blas.Matrix{}, err
	}
	out := eng.UnclearedMatrix(len(queries), x.Len())
	near, err := m.distancesToAnchors(ctx, eng, x.Select(queries))
	if err == nil {
		err = m.all(ctx, eng, x, queries, near, out)
	}
	if err != nil {
		return blas.Matrix{}, input.Failed(ctx, Method+": local metrics", err)
	}
	return out, nil
}

func (m *Local) check(eng *engine.Engine, x points.Points, queries []int) error {
	whole := metric{kernel: m.kernel, anchors: m.anchors}
	if err := whole.check(x); err != nil {
		return err
	}
	for at, i := range queries {
		if i < 0 || i >= x.Len() {
			return &fault.DataError{Row: at, Err: fmt.Errorf("query %d is row %d: want 0 to %d", at, i, x.Len()-1)}
		}
	}
	need := addBytes(engine.MatrixBytes(len(queries), x.Len()), engine.MatrixBytes(len(queries), m.anchors.Len()))
	return eng.Check(fmt.Sprintf("distances of %d queries to %d points", len(queries), x.Len()), need, "ask fewer queries at a time")
}

// distancesToAnchors returns squared distances in the feature space.
func (m *Local) distancesToAnchors(ctx context.Context, eng *engine.Engine, queries points.Points) (blas.Matrix, error) {
	d := eng.UnclearedMatrix(queries.Len(), m.anchors.Len())
	if err := m.kernel.CrossTo(ctx, eng, d, queries, m.anchors); err != nil {
		return d, err
	}
	own, err := m.kernel.Diagonal(ctx, eng, queries)
	if err != nil {
		return d, err
	}
	other, err := m.kernel.Diagonal(ctx, eng, m.anchors)
	for q := range d.Rows {
		row := d.Row(q)
		for a, v := range row {
			row[a] = own[q] + other[a] - 2*v
		}
	}
	return d, err
}

// all fills the rows of out, with a part of the engine for each query.
func (m *Local) all(ctx context.Context, eng *engine.Engine, x points.Points, queries []int, near, out blas.Matrix) error {
	part, err := eng.Share(max(1, min(eng.Workers(), len(queries))))
	if err != nil {
		return err
	}
	return eng.For(ctx, len(queries), 1, func(q, _ int) error {
		own, err := m.of(ctx, part, near.Row(q))
		if err != nil {
			return err
		}
		pairs := make([][2]int, x.Len())
		for j := range pairs {
			pairs[j] = [2]int{queries[q], j}
		}
		d, err := own.distances(ctx, part, x, pairs)
		copy(out.Row(q), d)
		return err
	})
}

// of returns the metric of a query at these distances from the anchors.
func (m *Local) of(ctx context.Context, eng *engine.Engine, near []float64) (*metric, error) {
	order, distance := make([]int, m.Chunklets()), make([]float64, m.Chunklets())
	for c := range order {
		order[c], distance[c] = c, slices.Min(near[m.start[c]:m.start[c+1]])
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(distance[a], distance[b]) })
	chosen := order[:min(m.nearest, len(order))]
	slices.Sort(chosen)
	var rows, sizes []int
	for _, c := range chosen {
		for a := m.start[c]; a < m.start[c+1]; a++ {
			rows = append(rows, a)
		}
		sizes = append(sizes, m.start[c+1]-m.start[c])
	}
	eps, err := m.params.epsilon(m.mean, len(rows))
	if err != nil {
		return nil, err
	}
	own := &metric{kernel: m.kernel, anchors: m.anchors.Select(rows), f: newHelmert(sizes), eps: eps}
	return newMetric(ctx, eng, own, m.params.Form, func(string) {})
}
