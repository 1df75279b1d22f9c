package krca

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// RowsOf returns the rows of the points in chunklets and of the landmarks of the embedding.
func (p Params) RowsOf(set *links.Set, seed uint64) ([]int, error) {
	rows, refs, _, err := p.usedRows(set, seed)
	return merge(rows, refs), err
}

// usedRows returns the rows in chunklets with their basis, and those of the landmarks.
func (p Params) usedRows(set *links.Set, seed uint64) (rows, refs []int, f helmert, err error) {
	if err := p.Validate(); err != nil {
		return nil, nil, f, err
	}
	groups, err := learnable(set)
	if err != nil {
		return nil, nil, f, err
	}
	rows, f = flatten(groups)
	return rows, landmarks(set.N(), p.Landmarks, seed), f, nil
}

// LearnRows is Learn on f.Links.N() points of which f.X has only those of [Params.RowsOf], in that
// order. eps_rel, whose unit depends on all points, requires a kernel with k(x,x) = 1, such as rbf;
// other kernels require eps or fixed_s.
func (p Params) LearnRows(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	rows, refs, basis, err := p.usedRows(f.Links, f.Seed)
	if err != nil {
		return nil, err
	}
	union := merge(rows, refs)
	if err := input.Rows(f.X, len(union), f.Kernel, DefaultKernel); err != nil {
		return nil, err
	}
	stage := stages(f)
	c, err := p.trust(ctx, f, f.X, positions(union, rows), chosen{rows, basis, nil})
	if err != nil {
		return nil, err
	}
	c.rows = positions(union, c.rows)
	m, err := p.model(ctx, f, task{c, positions(union, refs), unitOf(f.Links.N())}, stage)
	if err != nil {
		return nil, err
	}
	if err := learner.Measure(ctx, f.Eng, m, f.X); err != nil {
		return nil, err
	}
	return m, ctx.Err()
}

// unitOf returns the mean of k(x,x) over n points for a kernel with k(x,x) = 1, rounded like mean.
func unitOf(n int) unit {
	return func(_ context.Context, _ *engine.Engine, k kernel.Kernel, _ points.Points) (float64, error) {
		if !k.UnitDiagonal() {
			return 0, &fault.ParamError{Param: "eps_rel", Value: "given",
				Want: fmt.Sprintf("eps or fixed_s, since the unit of eps_rel, the mean of k(x,x) of kernel "+
					"%s, depends on all points", k)}
		}
		sum := 0.0
		for range n {
			sum += 1 / float64(n)
		}
		return sum, nil
	}
}
