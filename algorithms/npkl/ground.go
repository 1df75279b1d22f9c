package npkl

import (
	"context"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
)

// ground is a problem in the form that sweeps go through: on all points, in an order of classes for a sparse graph, or on those with
// links. But for the weights of the links it does not depend on C.
type ground struct {
	*graphkernel.Problem
	task    *graphkernel.Task
	links   *links.Set
	classes []int                                  // of the points, as colour makes them
	enter   func(blas.Matrix) blas.Matrix          // from rows of all points to those of the problem
	leave   func(blas.Matrix) (blas.Matrix, error) // and back
	reduced *graphkernel.Reduced                   // nil for a problem on all points
}

// release gives the memory of full matrices back for others to use: nothing may be fitted on the ground any more.
func (g *ground) release(eng *engine.Engine) {
	g.task.N.Release(eng)
	if g.reduced != nil {
		g.reduced.Release(eng)
	}
}

// ground makes the graph, and the ground of the links on it, those of the model before included.
func (f *fit) ground(ctx context.Context) (*ground, error) {
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
	setup := graphkernel.Setup{Method: Method, Settings: graphkernel.Settings{Loss: p.Loss, C: p.C, Delta: p.Delta, Neighbourhood: p.Neighbourhood}, Kernel: f.Kernel, Given: f.Similarities}
	task, err := setup.Start(ctx, f.Eng, f.X, set)
	if err != nil {
		return nil, err
	}
	g := &ground{task: task, links: set}
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
		g.colour(task.Problem)
	}
	return g, nil
}

// sweepsGuess is how many sweeps a fit takes, as long as nobody knows.
const sweepsGuess = 100

// reduces says whether the plan is to eliminate the points without links. In reads of an entry: one of a
// sparse graph takes four times as long, a product in a large matrix an eighth, and a solution by conjugate
// gradients some 25 products with the graph, many at a time.
func (f *fit) reduces(p *graphkernel.Problem) bool {
	if f.Params.Plan != Cheapest {
		return f.Params.Plan == Boundary
	}
	entries, l := float64(p.N.Entries()), float64(len(p.Boundary()))
	u := float64(p.Len()) - l
	if p.N.Sparse != nil {
		return 25*l*entries/2+sweepsGuess*l*l < sweepsGuess*4*entries
	}
	return u > 0 && (u*u*u/3+u*u*l+u*l*l)/8 < sweepsGuess*(entries-l*l)
}

// colour brings the points into the order of their classes.
func (g *ground) colour(p *graphkernel.Problem) {
	c := colour(p)
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

// with returns the ground of another C, for one of C = 1.
func (g *ground) with(c float64) *ground {
	out := *g
	out.Problem = g.Problem.Times(c)
	return &out
}
