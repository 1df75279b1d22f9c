package suspicion

import (
	"context"
	"errors"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// onPlaces learns from the places that another learner gives the points: what npkl takes for neighbours are neighbours by a metric that the
// links have had a say in.
type onPlaces struct {
	algorithms.Learner
	first algorithms.Learner
}

// on joins the names of the two.
const on = " on "

// Method says which learns on the places of which.
func (l onPlaces) Method() string { return l.Learner.Method() + on + l.first.Method() }

// Fit fits the first learner, and the second on its places.
func (l onPlaces) Fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	first, err := l.first.Fit(ctx, eng, x, set)
	if err != nil {
		return nil, err
	}
	y, err := places(ctx, eng, first, x)
	if err != nil {
		return nil, err
	}
	second, err := l.Learner.Fit(ctx, eng, y, set)
	if err != nil {
		return nil, err
	}
	return placed{second, first, l.Method()}, nil
}

// placed is the metric of the second model on the places of the first.
type placed struct {
	algorithms.Model
	first  algorithms.Model
	method string
}

// Method is that of the learner.
func (p placed) Method() string { return p.method }

// Embed is the second model's of the first one's.
func (p placed) Embed(ctx context.Context, eng *engine.Engine, x points.Points) (blas.Matrix, error) {
	y, err := places(ctx, eng, p.first, x)
	if err != nil {
		return blas.Matrix{}, err
	}
	return p.Model.Embed(ctx, eng, y)
}

// Gram is the second model's on the places.
func (p placed) Gram(ctx context.Context, eng *engine.Engine, x, y points.Points) (blas.Matrix, error) {
	px, err := places(ctx, eng, p.first, x)
	if err != nil {
		return blas.Matrix{}, err
	}
	if y == nil {
		return p.Model.Gram(ctx, eng, px, nil)
	}
	py, err := places(ctx, eng, p.first, y)
	if err != nil {
		return blas.Matrix{}, err
	}
	return p.Model.Gram(ctx, eng, px, py)
}

// Distances are the second model's between the places.
func (p placed) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
	y, err := places(ctx, eng, p.first, x)
	if err != nil {
		return nil, err
	}
	return p.Model.Distances(ctx, eng, y, pairs)
}

// Encode fails: such a model judges links and is not kept.
func (placed) Encode(*model.File) error {
	return errors.New("a metric on the places of another one has no file format")
}

// places embeds points.
func places(ctx context.Context, eng *engine.Engine, m algorithms.Model, x points.Points) (*points.Dense, error) {
	y, err := m.Embed(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	return &points.Dense{N: y.Rows, D: y.Cols, Data: y.Clone().Data}, nil
}
