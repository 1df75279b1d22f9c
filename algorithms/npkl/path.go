package npkl

import (
	"context"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Path is the kernel matrices of many values of C on one graph: each minimization starts from the
// places that the one of the next larger C has found. It is immutable and safe for concurrent use.
type Path struct {
	learner Learner
	ground  *ground // of C = 1
}

var (
	_ algorithms.PathLearner = Learner{}
	_ algorithms.Path        = (*Path)(nil)
)

// PathValue returns C; 0 for what ends where its start leads it, which is the hinge and a fixed
// rank: all others have a certified optimum, which does not depend on the start.
func (l Learner) PathValue() (name string, value float64) {
	const parameter = "C"
	if l.Params.Loss == Hinge || l.Params.Rank > 0 {
		return parameter, 0
	}
	return parameter, l.Params.C
}

// FitPath makes what fits of all C share: the graph, and what becomes of it without the points that
// have no links. C of l.Params is not looked at. Errors are those of Fit. The result has the type
// *[Path].
func (l Learner) FitPath(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Path, error) {
	l.Params.C = 1
	f := l.begin(eng, x, set)
	if err := f.Check(l.Params); err != nil {
		return nil, err
	}
	g, err := f.ground(ctx)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, input.Canceled(ctx, Method+": path", err)
	}
	return &Path{l, g}, nil
}

// Distances returns, for each value of C, what Model.Distances does after a fit, to the tolerance
// of the fits. The result depends on the set of the values, and not on their order. Values that
// [Params.Validate] refuses are a *fault.ParamError; other errors are those of Distances of a
// model.
func (p *Path) Distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int, c []float64) ([][]float64, error) {
	return learner.Path(ctx, Method, c, p.check, p.fits(ctx, eng, true), func(m *Model) ([]float64, error) {
		return m.Distances(ctx, eng, x, pairs)
	})
}

// Models returns the model of each value of C, as Distances has them.
// Errors are those of Distances.
func (p *Path) Models(ctx context.Context, eng *engine.Engine, c []float64) ([]*Model, error) {
	return learner.Path(ctx, Method, c, p.check, p.fits(ctx, eng, false), func(m *Model) (*Model, error) { return m, nil })
}

func (p *Path) check(c float64) error { return p.at(c).Params.Validate() }

// fits returns what fits one C after the other, the largest first, each from the coordinates of the
// one before. Downwards the rank falls, and axes that are not needed any more die away; upwards it
// has to grow, from saddle to saddle, and some values take more sweeps than from the beginning.
// Where one C ends with 0 as the best kernel, so do all smaller ones. With silent models have no
// message on that.
func (p *Path) fits(ctx context.Context, eng *engine.Engine, silent bool) func(c float64) (*Model, error) {
	start, last := p.learner.Start, &fit{}
	return func(c float64) (*Model, error) {
		f := p.at(c).begin(eng, nil, nil)
		f.vanishes, f.enough, f.silent = last.collapsed, last.enough, silent
		if start != nil {
			f.start = start.Coordinates()
		}
		m, err := f.model(ctx, p.ground.with(c))
		start, last = m, f
		return m, err
	}
}

// at returns the learner of one C.
func (p *Path) at(c float64) Learner {
	l := p.learner
	l.Params.C = c
	return l
}
