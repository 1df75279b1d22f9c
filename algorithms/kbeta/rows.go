package kbeta

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/landmarks"
)

var _ algorithms.RowsLearner = Learner{}

// Rows returns the rows of the landmarks, which points of links are among. Params.Rule must be uniform, unless Params.LandmarkRows
// leaves nothing to choose.
func (l Learner) Rows(set *links.Set) ([]int, error) {
	rows, _, err := l.looked(set)
	return rows, err
}

// looked returns the landmarks, chosen without their points, and what there is to say about them.
func (l Learner) looked(set *links.Set) ([]int, []string, error) {
	if err := l.Params.Validate(); err != nil {
		return nil, nil, err
	}
	if err := checkLinks(set); err != nil {
		return nil, nil, err
	}
	if rule := l.Params.Rule; rule != "" && rule != landmarks.Uniform && l.Params.LandmarkRows == nil {
		return nil, nil, &fault.ParamError{Param: "rule", Value: rule, Want: landmarks.Uniform + ", or the rows of the landmarks: the others look at all points"}
	}
	return l.landmarks(context.Background(), nil, unseen(set.N()), set)
}

// FitRows is [Learner.Fit] on set.N() points of which only those of [Learner.Rows] are given, in that order.
func (l Learner) FitRows(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	m, err := l.fitRows(ctx, eng, x, set)
	return record.Result(ctx, Method+": fit", m, err)
}

func (l Learner) fitRows(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (*Model, error) {
	f := l.begin(eng, x, set)
	chosen, notices, err := l.looked(set)
	if err != nil {
		return nil, err
	}
	if err := input.Rows(x, len(chosen), l.Kernel, DefaultKernel); err != nil {
		return nil, err
	}
	k, err := l.kernel(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	m := &metric{params: l.Params, kernel: k, rows: chosen}
	return m.fit(ctx, f, x, notices, f.Stages(2))
}

// unseen is a number of points of which only rules that do not look at them can choose.
type unseen int

var _ landmarks.Source = unseen(0)

func (n unseen) Len() int { return int(n) }

func (n unseen) Diagonal(context.Context) ([]float64, error) { return nil, n.err() }

func (n unseen) Columns(context.Context, []int, int, int, blas.Matrix) error { return n.err() }

func (n unseen) err() error { return fmt.Errorf("kbeta: %d points that are not at hand", int(n)) }
