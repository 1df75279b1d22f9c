package krca

import (
	"context"
	"fmt"
	"strings"
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
	rows, refs, _, err := l.looked(set)
	return merge(rows, refs), err
}

// looked returns the rows in chunklets with their basis, and those of the landmarks.
func (l Learner) looked(set *links.Set) (rows, refs []int, f helmert, err error) {
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

// FitRows is [Learner.Fit] on set.N() points of which only those of [Learner.Rows] are given, in
// that order. eps_rel, which is relative to all points, needs a kernel with k(x,x) = 1, such as
// rbf; others take eps or fixed_s.
func (l Learner) FitRows(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	m, err := l.fitRows(ctx, eng, x, set)
	return record.Result(ctx, Method+": fit", m, err)
}

func (l Learner) fitRows(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (*Model, error) {
	begin := time.Now()
	rows, refs, f, err := l.looked(set)
	if err != nil {
		return nil, err
	}
	union := merge(rows, refs)
	if err := input.Rows(x, len(union), l.Kernel, DefaultKernel); err != nil {
		return nil, err
	}
	stage := l.stages(begin)
	m, err := l.fitAt(ctx, eng, x, positions(union, rows), positions(union, refs), f, unitOf(set.N()), stage)
	if err != nil {
		return nil, err
	}
	return m(algorithms.Status{Converged: true, Notices: notices(set), Elapsed: time.Since(begin)}), ctx.Err()
}

// unitOf returns the mean of k(x,x) over n points where it is 1 for every point, with the rounding
// of mean.
func unitOf(n int) unit {
	return func(_ context.Context, _ *engine.Engine, k kernel.Kernel, _ points.Points) (float64, error) {
		if name := k.String(); !strings.HasPrefix(name, "rbf") && !strings.HasPrefix(name, "exp") {
			return 0, &fault.ParamError{Param: "eps_rel", Value: "given", Want: fmt.Sprintf("eps or fixed_s: the mean of k(x,x), which eps_rel is relative to, is not known of kernel %s without all points", name)}
		}
		sum := 0.0
		for range n {
			sum += 1 / float64(n)
		}
		return sum, nil
	}
}
