package labelnoise

import (
	"context"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// stacked is a learner of two metrics: that of a method, and that of a second method fitted on the
// embedding of the first. Neighbors in the embedding are near in directions that the links have
// influenced.
type stacked struct {
	algorithms.Learner
	onEmbedding algorithms.Learner
}

// Fit fits both metrics. If only the second fit fails, the model holds its error.
func (l stacked) Fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	m, err := l.Learner.Fit(ctx, eng, x, set)
	if err != nil {
		return nil, err
	}
	y, err := embed(ctx, eng, m, x)
	if err != nil {
		return nil, err
	}
	second, err := l.onEmbedding.Fit(ctx, eng, y, set)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	return stackedModel{m, fittedMetric{distancesOnEmbedding(m, second), err}}, nil
}

// stackedModel is the model of [stacked].
type stackedModel struct {
	algorithms.Model
	onEmbedding fittedMetric
}

// distanceFunc returns the squared distances of pairs of rows.
type distanceFunc func(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error)

// fittedMetric holds the distances of a fitted metric, or the error of its fit.
type fittedMetric struct {
	distances distanceFunc
	err       error
}

// distancesOnEmbedding returns the distances of the model second, which was fitted on the embedding
// of m.
func distancesOnEmbedding(m, second algorithms.Model) distanceFunc {
	return func(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
		y, err := embed(ctx, eng, m, x)
		if err != nil {
			return nil, err
		}
		return second.Distances(ctx, eng, y, pairs)
	}
}

// embed returns the coordinates of points under m, as points.
func embed(ctx context.Context, eng *engine.Engine, m algorithms.Model, x points.Points) (*points.Dense, error) {
	y, err := m.Embed(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	return &points.Dense{N: y.Rows, D: y.Cols, Data: y.Clone().Data}, nil
}

// stackedName returns the name of a method on the embedding of a metric.
func stackedName(method, metric string) string { return method + " on " + metric }

// metricNames returns the names of a learner's metrics, in the order of [fittedMetrics].
func metricNames(l algorithms.Learner) []string {
	if two, is := l.(stacked); is {
		return []string{two.Method(), stackedName(two.onEmbedding.Method(), two.Method())}
	}
	return []string{l.Method()}
}

// fittedMetrics returns the metrics of a model.
func fittedMetrics(m algorithms.Model) []fittedMetric {
	if two, is := m.(stackedModel); is {
		return []fittedMetric{{distances: two.Distances}, two.onEmbedding}
	}
	return []fittedMetric{{distances: m.Distances}}
}
