package krca

import (
	"context"
	"fmt"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

var _ algorithms.RowsLearner = Learner{}

// Rows returns the rows of the points in chunklets and of the landmarks of the embedding.
func (l Learner) Rows(set *links.Set) ([]int, error) {
	rows, refs, _, err := l.usedRows(set)
	return merge(rows, refs), err
}

// usedRows returns the rows in chunklets with their basis, and those of the landmarks.
func (l Learner) usedRows(set *links.Set) (rows, refs []int, f helmert, err error) {
	if err := l.Params.Validate(); err != nil {
		return nil, nil, f, err
	}
	groups, err := learnable(set)
	if err != nil {
		return nil, nil, f, err
	}
	rows, f = flatten(groups)
	return rows, landmarks(set.N(), l.Params.Landmarks, l.Seed), f, nil
}

// FitRows is [Learner.Fit] on set.N() points of which x has only those of [Learner.Rows], in that
// order. eps_rel, whose unit depends on all points, requires a kernel with k(x,x) = 1, such as rbf;
// other kernels require eps or fixed_s.
func (l Learner) FitRows(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	m, err := l.fitRows(ctx, eng, x, set)
	return record.Result(ctx, Method+": fit", m, err)
}

func (l Learner) fitRows(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (*Model, error) {
	begin := time.Now()
	rows, refs, f, err := l.usedRows(set)
	if err != nil {
		return nil, err
	}
	union := merge(rows, refs)
	if err := input.Rows(x, len(union), l.Kernel, DefaultKernel); err != nil {
		return nil, err
	}
	stage := l.stages(begin)
	c, err := l.trust(ctx, eng, x, positions(union, rows), chosen{rows, f, notices(set)}, set)
	if err != nil {
		return nil, err
	}
	of, err := l.fitAt(ctx, eng, x, positions(union, c.rows), positions(union, refs), c.f, unitOf(set.N()),
		stage)
	if err != nil {
		return nil, err
	}
	m := of(algorithms.Status{Converged: true, Notices: c.notices, Elapsed: time.Since(begin)})
	if err := m.measure(ctx, eng); err != nil {
		return nil, err
	}
	return m, ctx.Err()
}

// unitOf returns the mean of k(x,x) over n points for a kernel with k(x,x) = 1, rounded like mean.
func unitOf(n int) unit {
	return func(_ context.Context, _ *engine.Engine, k kernel.Kernel, _ points.Points) (float64, error) {
		if !k.UnitDiagonal() {
			return 0, &fault.ParamError{Param: "eps_rel", Value: "given", Want: fmt.Sprintf("eps or fixed_s, since the unit of eps_rel, the mean of k(x,x) of kernel %s, depends on all points", k)}
		}
		sum := 0.0
		for range n {
			sum += 1 / float64(n)
		}
		return sum, nil
	}
}
