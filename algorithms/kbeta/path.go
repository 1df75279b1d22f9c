package kbeta

import (
	"context"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// Path fits the metrics of all reg_d on the same landmarks: eigenvectors and D do not depend on
// reg_d, only the weights beta do. It is immutable and safe for concurrent use.
type Path struct{ model *Model } // with the reg_d of the learner

var _ algorithms.Path = (*Path)(nil)

// PathValue returns reg_d.
func (p Params) PathValue() (name string, value float64) { return "reg_d", p.RegD }

// PathProjected returns false: coordinates have the distances of the path.
func (Params) PathProjected() bool { return false }

// LearnPath learns what fits of all reg_d share. It ignores reg_d of p. Errors and cost are those
// of Fit. The result has the type *[Path].
func (p Params) LearnPath(ctx context.Context, f *learner.Fit) (algorithms.Path, error) {
	p.RegD = DefaultParams().RegD
	var m *Model
	err := f.Check(ctx, p)
	if err == nil {
		m, err = p.learn(ctx, f)
	}
	if err != nil {
		return nil, input.Failed(ctx, Method+": path", err)
	}
	return &Path{m}, nil
}

// Model returns the model for one reg_d, bit-identical to a fit.
func (p *Path) Model(regD float64) (*Model, error) {
	m := p.model.again()
	m.params.RegD = regD
	if err := m.params.Validate(); err != nil {
		return nil, err
	}
	m.links, m.d = p.model.links, p.model.d
	m.settle()
	return m.model(p.model.Status()), nil
}

// Distances returns, for each value of reg_d, what Model.Distances returns after a fit, up to
// rounding. Coordinates are computed once for all values, except where iterations search for
// neighbors in the learned space, which differs. A value that [Params.Validate] refuses is a
// *fault.ParamError; other errors are those of [Model.Distances].
func (p *Path) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int,
	regD []float64) ([][]float64, error) {
	out, unit := make([][]float64, len(regD)), unweighted{metric: p.model.again()}
	for at, v := range regD {
		m, err := p.Model(v)
		if err != nil {
			return nil, err
		}
		embed := func(x points.Points) (blas.Matrix, error) { return m.all.Embed(ctx, eng, x) }
		if p.model.params.Extension == Nystrom || p.model.params.Iterations == 1 {
			embed = func(x points.Points) (blas.Matrix, error) { return unit.times(ctx, eng, x, m.beta) }
		}
		if out[at], err = m.all.DistancesBy(eng, x, pairs, embed); err != nil {
			return nil, input.Failed(ctx, Method+": path", err)
		}
	}
	return out, ctx.Err()
}

// unweighted is the coordinates of some points with all weights 1, computed on first use.
type unweighted struct {
	metric      *metric
	coordinates blas.Matrix
}

// times returns the coordinates of the points with other weights. The points must be the same in
// every call.
func (u *unweighted) times(ctx context.Context, eng *engine.Engine, x points.Points,
	beta []float64) (blas.Matrix, error) {
	if u.coordinates.Data == nil {
		u.metric.beta = slices.Repeat([]float64{1}, len(beta))
		u.metric.prepare()
		var err error
		if u.coordinates, err = u.metric.everywhere().Embed(ctx, eng, x); err != nil {
			return blas.Matrix{}, err
		}
	}
	out := u.coordinates.Clone()
	for i := range out.Rows {
		for r, v := range out.Row(i) {
			out.Set(i, r, beta[r]*v)
		}
	}
	return out, nil
}
