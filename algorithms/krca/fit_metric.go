package krca

import (
	"context"
	"time"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Metric is the learned kernel without an embedding: distances for ranking and retrieval, at a fraction of the cost of a
// [Model]. It is immutable and safe for concurrent use.
type Metric struct{ metric *metric }

// FitMetric is Fit without the embedding. With n points in chunklets it takes n^2 kernel values and (n - #chunklets)^3/3 flops, and a bandwidth
// rule looks at all points besides. Errors are those of Fit.
func (l Learner) FitMetric(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (*Metric, error) {
	m, _, err := l.fitMetric(ctx, eng, x, set)
	if err != nil {
		return nil, input.Cancelled(ctx, Method+": fit", err)
	}
	return &Metric{m}, nil
}

// fitMetric learns the metric and returns the rows of the points in chunklets.
func (l Learner) fitMetric(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (*metric, []int, error) {
	stage := l.stages(time.Now())
	rows, f, err := l.chunklets(ctx, eng, x, set, stage)
	if err != nil {
		return nil, nil, err
	}
	if err := checkMemory(eng, f, 1); err != nil {
		return nil, nil, err
	}
	stage("bandwidth")
	m, err := l.learn(ctx, eng, x, rows, f, meanDiagonal, stage)
	return m, rows, err
}

// Eps returns the regularisation in units of the kernel.
func (m *Metric) Eps() float64 { return m.metric.eps }

// Distances is that of [Model].
// Cost and errors are the same.
func (m *Metric) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
	return m.metric.checkedDistances(ctx, eng, x, pairs)
}

// Gram is that of [Model].
// Cost and errors are the same.
func (m *Metric) Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	return m.metric.checkedGram(ctx, eng, x, y)
}
