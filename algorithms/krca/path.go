package krca

import (
	"context"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// Path is the learned kernel for all values of eps: the decomposition of F'KF, which takes most of
// the time of a fit, does not depend on eps (equation (1c)). It is immutable and safe for
// concurrent use.
type Path struct {
	fit    *learner.Fit
	params Params
	chosen
	metric *metric // in the spectral form, of no particular eps
	mean   float64 // of k(x,x) over the training points, the unit of eps_rel
}

var _ algorithms.Path = (*Path)(nil)

// PathValue returns eps_rel, or 0 if eps is set in another unit or Form is cholesky.
func (p Params) PathValue() (name string, value float64) {
	const parameter = "eps_rel"
	if p.Form == FormCholesky {
		return parameter, 0
	}
	return parameter, p.EpsRel
}

// PathProjected reports whether a model keeps leading directions alone.
func (p Params) PathProjected() bool { return p.Dims > 0 }

// LearnPath is Learn with form=spectral for all values of eps; it ignores that of p. Errors are
// those of Fit. The result has the type *[Path].
//
// With r + #chunklets points in chunklets it takes their kernel values and 2 r q^2 + 9 q^3 flops
// for a matrix F'KF of rank q.
func (p Params) LearnPath(ctx context.Context, f *learner.Fit) (algorithms.Path, error) {
	p.Form, p.EpsRel, p.Eps, p.FixedS = FormSpectral, 1, 0, 0
	m, c, err := p.fitMetric(ctx, f)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, input.Failed(ctx, Method+": path", err)
	}
	return &Path{fit: f, params: p, chosen: c, metric: m, mean: m.eps}, nil
}

// Distances returns, for each value of eps_rel, the squared learned distance of each pair of rows
// of x, never negative. With q the rank of F'KF it takes the coordinates of the points once, and 3
// q flops for each pair and value. Values that [Params.Validate] refuses are a *fault.ParamError;
// other errors are those of [Model.Distances].
func (p *Path) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int,
	epsRel []float64) ([][]float64, error) {
	if err := p.metric.checkPairs(eng, x, pairs); err != nil {
		return nil, err
	}
	eps, weights, out := make([]float64, len(epsRel)), make([][]float64, len(epsRel)),
		make([][]float64, len(epsRel))
	for v, rel := range epsRel {
		var err error
		if eps[v], err = p.eps(rel); err != nil {
			return nil, err
		}
		weights[v], out[v] = p.metric.squaredWeights(eps[v]), make([]float64, len(pairs))
	}
	err := p.metric.parts(ctx, eng, x, pairs, func(at int, rho float64, ci, cj []float64) {
		for v, w := range weights {
			sum := rho / eps[v]
			for r, weight := range w {
				d := ci[r] - cj[r]
				sum += weight * d * d
			}
			out[v][at] = max(0, sum)
		}
	})
	if err != nil {
		return nil, input.Failed(ctx, Method+": path:", err)
	}
	for _, d := range out {
		if err := finiteDistances(d, pairs); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// eps returns eps in units of the kernel.
func (p *Path) eps(rel float64) (float64, error) {
	params := Params{EpsRel: rel}
	if err := params.Validate(); err != nil {
		return 0, err
	}
	return params.epsilon(p.mean, p.metric.f.points())
}

// Model returns the model of one value of eps_rel. It computes only the embedding.
func (p *Path) Model(ctx context.Context, eng *engine.Engine, epsRel float64) (*Model, error) {
	eps, err := p.eps(epsRel)
	if err != nil {
		return nil, err
	}
	params := p.params
	params.EpsRel = epsRel
	f := learner.Begin(p.fit.Rules, p.fit.Common, eng, p.fit.X, p.fit.Links)
	f.Notices = noticesOr(p.notices, f.Links)
	refs := landmarks(f.X.Len(), params.Landmarks, f.Seed)
	metric := *p.metric
	metric.eps = eps
	e, err := fitEmbedding(ctx, eng, &metric, reference{f.X, p.rows, refs}, params, stages(f))
	if err != nil {
		return nil, input.Failed(ctx, Method+": path", err)
	}
	m := newModel(params, &metric, e, f.Direct())
	if err := learner.Measure(ctx, eng, m, f.X); err != nil {
		return nil, input.Failed(ctx, Method+": path", err)
	}
	return m, ctx.Err()
}
