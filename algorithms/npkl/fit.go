package npkl

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/outofsample"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// DefaultKernel is the kernel whose feature space defines neighbors for a Learner without a kernel.
const DefaultKernel = "linear"

// Learner fits the method from the links; points without links take part through the graph. The
// zero value does not work: Params come from [DefaultParams]. The result has the type *[Model].
//
// Kernel defines the feature space in which neighbors are searched. The zero Spec means
// DefaultKernel (Euclidean neighbors), or spectrum:k=3 for sequences. A model of Similarities,
// those of the graph named Given, has coordinates for the training points only.
//
// Cost: the nearest neighbors of all points; for every sweep, 2 r flops per edge of the graph and
// O(min(r, m)^3) per point with m links; one or a few searches for an eigenvalue of the graph.
//
// Errors are those of [learner.Learner.Fit]; as many neighbors as points are an error, too.
type Learner = learner.Learner[Params]

// Rules describes the method and the input that it requires.
func (Params) Rules() learner.Rules { return graphkernel.Rules(About) }

// Learn minimizes the objective from random coordinates.
func (p Params) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	return (&fit{Fit: f, Params: p}).learn(ctx)
}

func (f *fit) learn(ctx context.Context) (*Model, error) {
	g, err := f.prepare(ctx)
	if err != nil {
		return nil, err
	}
	defer g.release(f.Eng)
	if f.before != nil {
		f.start = f.before.Coordinates()
	}
	return f.model(ctx, g)
}

// model minimizes the prepared problem and returns the model of its optimum.
func (f *fit) model(ctx context.Context, g *prepared) (*Model, error) {
	f.classes = g.classes
	if f.start.Rows > 0 {
		f.start = g.enter(f.start)
	}
	if err := f.minimize(ctx, g.Problem); err != nil {
		return nil, err
	}
	v, err := g.leave(f.d.v)
	if err != nil {
		return nil, err
	}
	m, err := g.task.Map(ctx, f.Eng, v, counts)
	if err != nil {
		return nil, err
	}
	if f.Params.Extension == Ridge && f.Params.Graph != Given {
		f.stage("extension", f.d.sweeps)
		if m, err = outofsample.NewRidge(ctx, f.Eng, Method, m.Kernel(), g.x, m.Coordinates(),
			f.Seed); err != nil {
			return nil, err
		}
	}
	head := about{f.certified, f.gap}
	if math.IsNaN(f.gap) {
		head.Gap = -1
	}
	f.Notices = g.task.Notices
	status := f.Status(algorithms.Status{Converged: f.converged, Iterations: f.d.sweeps,
		Message: f.message()})
	return &Model{fitted.NewTraced(m, f.Params, status, f.objectives()), g.links, head}, ctx.Err()
}

// fit is the state of one call of Fit.
type fit struct {
	*learner.Fit
	Params    Params
	before    *Model // whose links are used in addition to the new ones; may be nil
	d         *descent
	trace     []float64   // the lowest objective after every round of a stiff problem
	start     blas.Matrix // initial rows; random if empty
	classes   []int       // starts of the classes of the points, see color
	converged bool
	collapsed bool
	vanishes  bool    // known before the fit: a larger C has collapsed
	enough    float64 // the smallest C that does not collapse, 0 if not computed
	silent    bool    // nothing reads the message
	certified bool    // whether it is the optimum among all matrices, up to the tolerance
	gap       float64 // upper bound on objective minus optimum, NaN if unknown
}

func (f *fit) stage(name string, sweeps int) {
	p := algorithms.Progress{Stage: name, Done: sweeps, Total: f.Params.MaxIter}
	if len(f.trace) > 0 || f.d != nil && len(f.d.trace) > 0 {
		p.Objective = f.objective()
	}
	f.Report(p)
}

// objectives returns the objectives of the steps so far.
func (f *fit) objectives() []float64 {
	if len(f.trace) > 0 {
		return f.trace
	}
	return f.d.trace
}

// objective returns the latest objective.
func (f *fit) objective() float64 {
	all := f.objectives()
	return all[len(all)-1]
}

// price checks the memory of coordinates in r dimensions: the sweeps that an extrapolation
// combines, a few more copies, and a block for each worker.
func (f *fit) price(p *graphkernel.Problem, r int) error {
	most := mostLinks(p)
	block := blockBytes(r, most)
	if p.Sharp() {
		block += kinksBytes(r, most)
	}
	need := (2*window+6)*engine.MatrixBytes(p.Len(), r) + int64(f.Eng.Workers())*block
	return f.Eng.Check(fmt.Sprintf("npkl in %d dimensions, with up to %d links at a point", r, most), need,
		"use a lower rank, fewer points or fewer links")
}

// counts is the smallest eigenvalue of Z that is not treated as 0, relative to the largest.
const counts = 1e-10

// minimize finds V, of the given rank or of the rank that the certificate requires.
func (f *fit) minimize(ctx context.Context, p *graphkernel.Problem) error {
	if f.vanishes {
		return f.vanish(ctx, p)
	}
	find := f.descend
	if stiff(p) && !f.Params.Plain {
		find = f.approach
	}
	if err := find(ctx, p); err != nil {
		return err
	}
	_, err := f.collapse(ctx, p)
	return err
}

func (f *fit) sweeping() { f.stage("sweeps", f.d.sweeps) }

// firstRank is the rank of the first sweeps, usually more than the optimum has. With a smaller rank
// the sweeps pass saddle after saddle (usps takes 1400 sweeps at rank 2, 50 at this rank), while
// superfluous axes vanish.
const firstRank = 12

// alive is the eigenvalue of Z, relative to the largest, up to which an axis is dropped between
// sweeps.
const alive = 1e-4

// descend minimizes by sweeps. With a smooth loss, it adds columns until the optimum is certified.
// The hinge itself has as many as an optimum can need, and comes to rest where no single row can
// lower the objective.
func (f *fit) descend(ctx context.Context, p *graphkernel.Problem) error {
	bound, sharp := p.RankBound(), p.Sharp()
	r := min(bound, firstRank)
	if sharp {
		r = bound
	}
	if f.Params.Rank > 0 {
		r = min(f.Params.Rank, p.Len())
	}
	if err := f.price(p, max(r, f.start.Cols+4)); err != nil {
		return err
	}
	f.d = newDescent(f.Eng, p, f.classes, r, f.Seed)
	f.d.plain = f.Params.Plain
	if f.start.Rows > 0 && f.Params.Rank == 0 {
		f.d.take(widened(f.start, min(bound, f.start.Cols+4), f.d.v))
	}
	tol, tightened := f.Params.Tol, 0
	for {
		if err := f.settle(ctx, tol); err != nil {
			return err
		}
		if f.gap = math.NaN(); !f.converged || sharp {
			return nil
		}
		low, err := f.certify(ctx)
		if err != nil || f.certified {
			return err
		}
		negative := low.value <= -max(low.error, certified*low.norm)
		switch {
		case !negative && tightened < 4: // V is not precise enough to decide
			tol *= 0.03
			tightened++
		case !negative || f.Params.Rank > 0 || f.d.v.Cols > bound:
			return nil
		default:
			if err := f.grow(low.vector, low.value, bound); err != nil {
				return err
			}
			tol, tightened = f.Params.Tol, 0
		}
	}
}

// settle sweeps until convergence, and drops axes that have vanished, unless the rank is fixed.
func (f *fit) settle(ctx context.Context, tol float64) (err error) {
	if f.Params.Rank > 0 || f.d.Sharp() {
		f.converged, err = f.d.settle(ctx, tol, f.Params.MaxIter, f.sweeping)
		return err
	}
	for step := 10; ; step *= 2 {
		limit := min(f.Params.MaxIter, f.d.sweeps+step)
		f.converged, err = f.d.settle(ctx, tol, limit, f.sweeping)
		if err != nil || f.converged || limit == f.Params.MaxIter {
			return err
		}
		if err := f.trim(ctx); err != nil {
			return err
		}
	}
}

// trim drops the axes that have vanished, unless the objective would rise: an axis may be small
// because it has only begun to grow.
func (f *fit) trim(ctx context.Context) error {
	v, err := graphkernel.OnAxes(ctx, f.Eng, f.d.v, alive)
	if err != nil || v.Cols == f.d.v.Cols {
		return err
	}
	value, err := f.d.Objective(ctx, f.Eng, v)
	if err == nil && value <= f.d.trace[len(f.d.trace)-1] {
		f.d.take(v)
	}
	return err
}

// precise is the tolerance of eigenvalues, relative to the norm.
const precise = 0.1 * certified

// collapse finds out whether Z = 0 is the optimum, and if so, for which C it is not. An objective
// below that of Z = 0 shows that it is not, for all losses, because they have the same slope there.
func (f *fit) collapse(ctx context.Context, p *graphkernel.Problem) (bool, error) {
	nothing := 0.0
	for _, w := range p.Weight {
		nothing += w * p.Loss.Value(0) / 2 // every link appears twice
	}
	if f.objective() < 0.999*nothing {
		return false, nil
	}
	f.stage("certificate", f.d.sweeps)
	if is, err := f.definite(ctx, p, p.C); err != nil || !is {
		return false, err
	}
	return true, f.vanish(ctx, p)
}

// definite reports whether 0 is the best kernel for C = c; then it is also the best for every
// smaller C.
func (f *fit) definite(ctx context.Context, p *graphkernel.Problem, c float64) (bool, error) {
	a, err := p.Combined(func(_, e int) float64 { return c / p.C * p.Weight[e] * p.Sign[e] })
	if err != nil {
		return false, err
	}
	w, err := smallest(ctx, f.Eng, a, blas.Matrix{}, precise, f.Seed)
	return w.value >= 0, err
}

// vanish makes Z = 0 the result.
func (f *fit) vanish(ctx context.Context, p *graphkernel.Problem) error {
	f.collapsed, f.converged, f.certified = true, true, true
	f.d = &descent{Problem: p, eng: f.Eng, v: blas.NewMatrix(p.Len(), 1)}
	value, err := f.d.Objective(ctx, f.Eng, f.d.v)
	if err != nil {
		return err
	}
	f.d.trace, f.trace = []float64{value}, nil
	if f.silent || f.enough > 0 {
		return nil
	}
	return f.advise(ctx, p)
}

// advise computes the smallest C that does not collapse.
func (f *fit) advise(ctx context.Context, p *graphkernel.Problem) error {
	lo, hi := p.C, 2*p.C
	for {
		is, err := f.definite(ctx, p, hi)
		if err != nil {
			return err
		}
		if !is || hi > 1e12*p.C {
			break
		}
		lo, hi = hi, 2*hi
	}
	for range 10 {
		mid := math.Sqrt(lo * hi)
		is, err := f.definite(ctx, p, mid)
		if err != nil {
			return err
		}
		if is {
			lo = mid
		} else {
			hi = mid
		}
	}
	f.enough = hi
	return nil
}

// certify finds the smallest eigenvalue of G outside the null space that V spans.
func (f *fit) certify(ctx context.Context) (bottom, error) {
	f.stage("certificate", f.d.sweeps)
	null, w, err := graphkernel.Axes(ctx, f.Eng, f.d.v, counts)
	if err != nil {
		return bottom{}, err
	}
	g, err := stationarity(f.d.Problem, f.d.v)
	if err != nil {
		return bottom{}, err
	}
	low, err := f.lowest(ctx, g, null)
	if err != nil || f.certified {
		return low, err
	}
	f.gap = blas.Sum(w) * max(0, low.error-low.value)
	f.certified = low.value-low.error >= -certified*low.norm
	return low, nil
}

// lowest finds the smallest eigenvalue of g outside the span of the rows of null. If nothing reads
// the message, it computes only whether f is certified.
func (f *fit) lowest(ctx context.Context, g *graphkernel.Combination, null blas.Matrix) (bottom, error) {
	if f.silent {
		whole, is, err := factored(ctx, f.Eng, g, blas.Matrix{})
		if f.certified = is; err != nil {
			return bottom{}, err
		}
		if is {
			whole.release(f.Eng)
			return bottom{}, nil
		}
	} else if n := g.Order(); n > minInverted && null.Rows <= n/8 {
		whole, is, err := factored(ctx, f.Eng, g, null)
		if err != nil {
			return bottom{}, err
		}
		if is {
			defer whole.release(f.Eng)
			return whole.smallest(ctx, f.Eng, g, null, precise, f.Seed)
		}
	}
	return smallest(ctx, f.Eng, g, null, precise, f.Seed)
}

// grow adds a column along u, the eigenvector of G with the eigenvalue low < 0. If no axis has
// vanished, it also doubles the rank by small random columns, because the optimum may have many
// more. The objective of Z + a u u' is at most the objective of Z plus low a + sum w u_i^2 u_j^2
// a^2, with equality for the square loss.
func (f *fit) grow(u []float64, low float64, bound int) error {
	v, curved := f.d.v, 0.0
	for i := range v.Rows {
		lo, hi := f.d.Links(i)
		for e := lo; e < hi; e++ {
			p := u[i] * u[f.d.To[e]]
			curved += f.d.Weight[e] * p * p // every link appears twice
		}
	}
	size := math.Sqrt(-low / curved)
	cols := v.Cols + 1
	if v.Cols >= firstRank {
		cols = max(cols, min(bound, 2*v.Cols))
	}
	if err := f.price(f.d.Problem, cols); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(f.Seed, uint64(cols)))
	wider := blas.NewMatrix(v.Rows, cols)
	for i := range v.Rows {
		row := wider.Row(i)
		copy(row, v.Row(i))
		row[v.Cols] = size * u[i]
		for c := v.Cols + 1; c < cols; c++ {
			row[c] = 0.1 * size / math.Sqrt(float64(v.Rows)) * (rng.Float64() - 0.5)
		}
	}
	f.d.take(wider)
	return nil
}

// message describes how the fit ended.
func (f *fit) message() string {
	switch {
	case f.collapsed:
		return fmt.Sprintf("the links are too weak relative to the graph: the best kernel is 0 and all "+
			"points have the same coordinates; C = %.3g is the smallest that avoids it (or a smaller delta)",
			f.enough)
	case !f.converged:
		return fmt.Sprintf("%d sweeps did not reach the tolerance %g: raise max_iter or tol", f.d.sweeps,
			f.Params.Tol)
	case f.certified:
		return "certified global optimum"
	case !math.IsNaN(f.gap):
		return fmt.Sprintf("a stationary point of rank %d, at most %.2g above the optimum: a larger rank "+
			"may be better", f.d.v.Cols, f.gap)
	case f.d.Sharp():
		return "no row can improve while the others stay, which may be above the optimum: plain=false finds it"
	}
	return ""
}
