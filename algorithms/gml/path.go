package gml

import (
	"context"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/basis"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// Path fits the metrics of many gamma on the same points and links: each round of a gamma starts
// its projections from the multipliers that the same round found for the gamma before. It is
// immutable and safe for concurrent use.
type Path struct {
	params Params
	fit    *learner.Fit // of no particular gamma
}

var _ algorithms.Path = (*Path)(nil)

// PathValue returns gamma.
func (p Params) PathValue() (name string, value float64) { return "gamma", p.Gamma }

// PathProjected reports whether a model keeps leading directions alone.
func (p Params) PathProjected() bool { return p.Dims > 0 }

// LearnPath checks what fits of all gamma share. It ignores gamma of p. Errors are those of Fit's
// input. The result has the type *[Path], which keeps the points and links.
func (p Params) LearnPath(ctx context.Context, f *learner.Fit) (algorithms.Path, error) {
	p.Gamma = DefaultParams().Gamma
	x := f.X
	err := f.Check(ctx, p)
	if err == nil {
		err = begin(p, f).targets.Check(Method, x.Len())
	}
	if err != nil {
		return nil, err
	}
	f.X = x
	return &Path{p, f}, nil
}

// Distances returns, for each gamma, what Model.Distances returns after a fit, up to the tolerance
// of the fits. The result depends on the set of values, not on their order. A value that
// [Params.Validate] refuses is a *fault.ParamError; other errors are those of Fit and of Distances
// of a model.
func (p *Path) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int,
	gamma []float64) ([][]float64, error) {
	return learner.Path(ctx, Method, gamma, p.check, p.fits(ctx, eng), func(m *Model) ([]float64, error) {
		return m.Distances(ctx, eng, x, pairs)
	})
}

// Models returns the model of each gamma, fitted as for Distances.
func (p *Path) Models(ctx context.Context, eng *engine.Engine, gamma []float64) ([]*Model, error) {
	return learner.Path(ctx, Method, gamma, p.check, p.fits(ctx, eng), func(m *Model) (*Model, error) {
		return m, nil
	})
}

func (p *Path) check(gamma float64) error { return p.at(gamma).Validate() }

// fits returns the function that fits one gamma after the other, each from the multipliers of the
// one before.
func (p *Path) fits(ctx context.Context, eng *engine.Engine) func(gamma float64) (*Model, error) {
	found := &warm{}
	return func(gamma float64) (*Model, error) {
		own := learner.Begin(p.fit.Rules, p.fit.Common, eng, p.fit.X, p.fit.Links)
		own.Basis = p.fit.Basis
		f := begin(p.at(gamma), own)
		f.warm = found.next()
		found = f.warm
		m, err := f.model(ctx)
		return m, named(err)
	}
}

// at returns the parameters with one gamma.
func (p *Path) at(gamma float64) Params {
	params := p.params
	params.Gamma = gamma
	return params
}

// warm is what the fits of a path share. It is nil for a separate fit, whose result depends only on
// its input.
type warm struct {
	vectors *basis.Basis // of a prior on a graph, computed on first use
	before  [][]float64  // the multipliers of the rounds of the fit before
	now     [][]float64  // those of the rounds of this one
}

// next returns the shared state for the next fit.
func (w *warm) next() *warm { return &warm{vectors: w.vectors, before: w.now} }

// basis returns the vectors of an earlier fit, or else those of make.
func (w *warm) basis(make func() (*basis.Basis, error)) (*basis.Basis, error) {
	if w == nil {
		return make()
	}
	var err error
	if w.vectors == nil {
		w.vectors, err = make()
	}
	return w.vectors, err
}

// start returns the solution that the projections of a round start from, or nil.
func (w *warm) start(round int) *logdet.Result {
	switch {
	case w == nil:
		return nil
	case round < len(w.before):
		return &logdet.Result{Multipliers: w.before[round]}
	case len(w.now) > 0:
		return &logdet.Result{Multipliers: w.now[len(w.now)-1]}
	}
	return nil
}

// keep stores the result of a round.
func (w *warm) keep(r *logdet.Result) {
	if w != nil {
		w.now = append(w.now, r.Multipliers)
	}
}
