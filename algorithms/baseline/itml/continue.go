package itml

import (
	"context"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// AddLinks returns the model that a fit with the links of m and those of set gives, and with the triplets of m: the projections go on from
// its multipliers. x are the points that m was fitted on. The bounds of distances are those of the fit, which depend on the points and
// not on the links. In kernel mode a few new links turn the directions of m, which then are no more those of the largest spread first.
//
// Errors are those of [Learner.Fit]; other points, a link that contradicts one of m, and a model of a file that does not hold its
// multipliers, as those of earlier versions, are a *fault.DataError.
func (m *Model) AddLinks(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	added, err := m.add(ctx, eng, x, set)
	return record.Result(ctx, Method+": new links", added, err)
}

func (m *Model) add(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (*Model, error) {
	f := Learner{Params: m.Params()}.begin(eng, x, set)
	f.before, f.bounds = m.taught, m.about.Bounds
	var err error
	if f.wishes, err = m.taught.With(eng, Method, x, set); err != nil {
		return nil, err
	}
	f.Seed = m.taught.Seed
	if m.Support() > 0 {
		f.Kernel, f.from = m.Kernel().Spec(), m.Map
	}
	return f.model(ctx)
}
