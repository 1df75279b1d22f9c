package labelnoise

import (
	"context"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// besides is a judge that says two things: what its metric says, and what another method says that
// learns from the places that the metric gives the points. Neighbors there are near in directions
// that links have had a say in.
type besides struct {
	algorithms.Learner
	onEmbedding algorithms.Learner
}

// Fit fits both. That the second one cannot learn is no error: the model says so of its part.
func (l besides) Fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	m, err := l.Learner.Fit(ctx, eng, x, set)
	if err != nil {
		return nil, err
	}
	y, err := coordinates(ctx, eng, m, x)
	if err != nil {
		return nil, err
	}
	second, err := l.onEmbedding.Fit(ctx, eng, y, set)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	return both{m, voice{measureOn(m, second), err}}, nil
}

// both is a metric, with what another one says on its places.
type both struct {
	algorithms.Model
	onEmbedding voice
}

// measure returns the squared distances of pairs of rows.
type measure func(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error)

// voice is what is heard from a model, or why nothing is.
type voice struct {
	measure measure
	failed  error
}

// measureOn is that of a model of the places of m.
func measureOn(m, second algorithms.Model) measure {
	return func(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
		y, err := coordinates(ctx, eng, m, x)
		if err != nil {
			return nil, err
		}
		return second.Distances(ctx, eng, y, pairs)
	}
}

// places embeds points.
func coordinates(ctx context.Context, eng *engine.Engine, m algorithms.Model, x points.Points) (*points.Dense, error) {
	y, err := m.Embed(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	return &points.Dense{N: y.Rows, D: y.Cols, Data: y.Clone().Data}, nil
}

// on is the name of a method on the places of another.
func on(method, metric string) string { return method + " on " + metric }

// voices names what a judge says, in the order in which heard returns it.
func voices(l algorithms.Learner) []string {
	if two, is := l.(besides); is {
		return []string{two.Method(), on(two.onEmbedding.Method(), two.Method())}
	}
	return []string{l.Method()}
}

// heard returns what a model says.
func heard(m algorithms.Model) []voice {
	if two, is := m.(both); is {
		return []voice{{measure: two.Distances}, two.onEmbedding}
	}
	return []voice{{measure: m.Distances}}
}
