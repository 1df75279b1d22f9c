package npkl

import (
	"context"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// Path fits kernel matrices for many values of C on one graph: each minimization starts from the
// coordinates found for the next larger C. It is immutable and safe for concurrent use.
type Path struct {
	params  Params
	common  algorithms.Common
	problem *prepared // of C = 1
}

var _ algorithms.Path = (*Path)(nil)

// PathValue returns C. It returns 0 for the hinge, which may have many optima, and for a fixed
// rank: their results depend on the start.
func (p Params) PathValue() (name string, value float64) {
	const parameter = "C"
	if p.Loss == Hinge || p.Rank > 0 {
		return parameter, 0
	}
	return parameter, p.C
}

// PathProjected returns false: coordinates have the distances of the path.
func (Params) PathProjected() bool { return false }

// LearnPath computes what the fits of all C share: the graph, and its reduction to the points with
// links. It ignores C of p. Errors are those of Fit. The result has the type *[Path].
func (p Params) LearnPath(ctx context.Context, of *learner.Fit) (algorithms.Path, error) {
	p.C = 1
	f := &fit{Fit: of, Params: p}
	if err := f.Check(ctx, p); err != nil {
		return nil, err
	}
	g, err := f.prepare(ctx)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, input.Failed(ctx, Method+": path", err)
	}
	return &Path{p, f.Common, g}, nil
}

// Distances returns, for each value of C, what Model.Distances returns after a fit, up to the
// tolerance of the fits. The result depends on the set of values, not on their order. A value that
// [Params.Validate] refuses is a *fault.ParamError; other errors are those of Distances of a model.
func (p *Path) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int,
	c []float64) ([][]float64, error) {
	fits := *p
	if x == p.problem.x { // training rows need no extension
		fits.params.Extension = FromGraph
	}
	return learner.Path(ctx, Method, c, p.check, fits.fits(ctx, eng, true),
		func(m *Model) ([]float64, error) {
			return m.Distances(ctx, eng, x, pairs)
		})
}

// Models returns the model of each value of C, fitted as for Distances. Errors are those of
// Distances.
func (p *Path) Models(ctx context.Context, eng *engine.Engine, c []float64) ([]*Model, error) {
	return learner.Path(ctx, Method, c, p.check, p.fits(ctx, eng, false), func(m *Model) (*Model, error) {
		return m, nil
	})
}

func (p *Path) check(c float64) error { return p.at(c).Validate() }

// fits returns the function that fits one C after the other, the largest first, each from the
// coordinates of the one before. From large to small C the rank falls, and axes that are no longer
// needed vanish. In the other direction the rank has to grow, from saddle to saddle, and some
// values take more sweeps than a fit from scratch. If the best kernel for one C is 0, it is 0 for
// all smaller ones. With silent, models have no message about that.
func (p *Path) fits(ctx context.Context, eng *engine.Engine, silent bool) func(c float64) (*Model, error) {
	start, last := (*Model)(nil), &fit{}
	return func(c float64) (*Model, error) {
		params := p.at(c)
		f := &fit{Fit: learner.Begin(params.Rules(), p.common, eng, nil, nil), Params: params}
		f.vanishes, f.enough, f.silent = last.collapsed, last.enough, silent
		if start != nil {
			f.start = start.Coordinates()
		}
		m, err := f.model(ctx, p.problem.with(c))
		start, last = m, f
		return m, err
	}
}

// at returns the parameters with one C.
func (p *Path) at(c float64) Params {
	params := p.params
	params.C = c
	return params
}
