package npkl

import (
	"context"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// prepared is a problem in the form that the sweeps use: on all points, in the order of color
// classes for a sparse graph, or on the points with links. Only the weights of the links depend on
// C.
type prepared struct {
	*graphkernel.Problem
	task    *graphkernel.Task
	x       points.Points
	links   *links.Set
	classes []int                                  // starts of the classes of the points, see color
	enter   func(blas.Matrix) blas.Matrix          // from rows of all points to rows of the problem
	leave   func(blas.Matrix) (blas.Matrix, error) // and back
	reduced *graphkernel.Reduced                   // nil for a problem on all points
}

// release returns the memory of full matrices to the engine. The problem cannot be used afterward.
func (g *prepared) release(eng *engine.Engine) {
	g.task.N.Release(eng)
	if g.reduced != nil {
		g.reduced.Release(eng)
	}
}

// prepare builds the graph and the problem of the links on it, including the links of the model
// before.
func (f *fit) prepare(ctx context.Context) (*prepared, error) {
	p, set := f.Params, f.Links
	if err := p.Check(f.X.Len()); err != nil {
		return nil, err
	}
	if f.before != nil {
		var err error
		if set, err = input.AddedLinks(f.Eng, Method, f.X, f.before.links, f.Links); err != nil {
			return nil, err
		}
	}
	f.stage("graph", 0)
	setup := graphkernel.Setup{Method: Method,
		Settings: graphkernel.Settings{Loss: p.Loss, C: p.C, Delta: p.Delta, Neighborhood: p.Neighborhood},
		Kernel:   f.Kernel, Given: f.Similarities}
	task, err := setup.Start(ctx, f.Eng, f.X, set)
	if err != nil {
		return nil, err
	}
	g := &prepared{task: task, x: f.X, links: set}
	switch {
	case f.reduces(task.Problem):
		f.stage("reduction", 0)
		r, err := task.Reduce(ctx, f.Eng)
		if err != nil {
			return nil, err
		}
		boundary := task.Boundary()
		g.Problem, g.leave, g.reduced = r.Problem, r.Restore, r
		g.enter = func(v blas.Matrix) blas.Matrix { return v.Select(boundary) }
	case task.N.Sparse == nil:
		g.Problem = task.Problem
		g.enter = func(v blas.Matrix) blas.Matrix { return v }
		g.leave = func(v blas.Matrix) (blas.Matrix, error) { return v, nil }
	default:
		g.color(task.Problem)
	}
	return g, nil
}

// sweepsGuess is the assumed number of sweeps of a fit.
const sweepsGuess = 100

// reduces reports whether the plan is to eliminate the points without links. Costs are counted in
// reads of a matrix entry: an entry of a sparse graph takes four times as long, a multiplication in
// a large matrix an eighth, and a solution by conjugate gradients some 25 products with the graph,
// for many right-hand sides at a time. The paper's algorithm always eliminates them.
func (f *fit) reduces(p *graphkernel.Problem) bool {
	if f.Params.Plan != Cheapest || f.Params.Plain {
		return f.Params.Plan != Whole
	}
	entries, l := float64(p.N.Entries()), float64(len(p.Boundary()))
	u := float64(p.Len()) - l
	if p.N.Sparse != nil {
		return 25*l*entries/2+sweepsGuess*l*l < sweepsGuess*4*entries
	}
	return u > 0 && (u*u*u/3+u*u*l+u*l*l)/8 < sweepsGuess*(entries-l*l)
}

// color sorts the points by their classes.
func (g *prepared) color(p *graphkernel.Problem) {
	c := color(p)
	g.Problem, g.classes = p.Permute(c.order), c.start
	g.enter = func(v blas.Matrix) blas.Matrix {
		out := blas.NewMatrix(v.Rows, v.Cols)
		for k, i := range c.order {
			copy(out.Row(k), v.Row(int(i)))
		}
		return out
	}
	g.leave = func(v blas.Matrix) (blas.Matrix, error) {
		out := blas.NewMatrix(v.Rows, v.Cols)
		for k, i := range c.order {
			copy(out.Row(int(i)), v.Row(k))
		}
		return out, nil
	}
}

// with returns the problem for C = c; g is the problem for C = 1.
func (g *prepared) with(c float64) *prepared {
	out := *g
	out.Problem = g.Problem.Times(c)
	return &out
}

// CheckUpdate implements [algorithms.UpdateChecker]: a model of given similarities is a
// *fault.DataError, because it does not store them.
func (m *Model) CheckUpdate() error {
	if m.Params().Graph == Given {
		return fault.Data("",
			"the model does not hold the similarities that it was fitted on: want a fit with all links")
	}
	return nil
}

// AddLinks returns the model of a fit with the links of m and those of set. The fit starts from the
// coordinates of m, so it takes few sweeps if the new links change little. x are the points that m
// was fitted on. Errors are those of [learner.Learner.Fit] and [Model.CheckUpdate]. A link that
// contradicts one of m is a *fault.DataError.
func (m *Model) AddLinks(ctx context.Context, eng *engine.Engine, x points.Points,
	set *links.Set) (algorithms.Model, error) {
	if err := m.CheckUpdate(); err != nil {
		return nil, err
	}
	params := m.Params()
	params.Metric = "" // the kernel already includes the metric
	f := &fit{Fit: Learner{Kernel: m.Kernel().Spec(), Params: params}.Begin(eng, x, set), Params: params,
		before: m}
	return f.Run(ctx, params, func() (algorithms.Model, error) { return f.learn(ctx) })
}

// widened returns v with additional columns, a hundredth of the columns of other, so that the rank
// can grow.
func widened(v blas.Matrix, cols int, other blas.Matrix) blas.Matrix {
	cols = max(cols, v.Cols)
	out := blas.NewMatrix(v.Rows, cols)
	for i := range v.Rows {
		row := out.Row(i)
		copy(row, v.Row(i))
		for c := v.Cols; c < cols; c++ {
			row[c] = 0.01 * (other.At(i, c%other.Cols) - 0.5)
		}
	}
	return out
}

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
