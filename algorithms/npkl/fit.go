package npkl

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// DefaultKernel is the kernel in whose feature space a Learner without one looks for neighbours.
const DefaultKernel = "linear"

// Learner fits the method. The zero value does not work: Params come from [DefaultParams].
type Learner struct {
	// Kernel says in which feature space neighbours are near; it may hold bandwidth rules. The zero
	// Spec means DefaultKernel, Euclidean neighbours, and spectrum:k=3 for sequences.
	Kernel kernel.Spec
	Params Params
	// Similarities, n x n, are those of the graph named Given: symmetric, not negative; their diagonal does
	// not count. A model of them has places for the training points only.
	Similarities blas.Matrix
	// Start, if set, is a model of the same points: its links count beside the new ones, and the sweeps begin
	// with its places.
	Start    *Model
	Seed     uint64
	Progress algorithms.ProgressFunc
}

var _ algorithms.Learner = Learner{}

// Method returns "npkl".
func (Learner) Method() string { return Method }

// Fit learns from the links of l on the points x; points without links take part through the graph.
// The result has the type *[Model].
//
// Cost: the nearest neighbours of all points; 2 r flops an edge of the graph and sweep, O(min(r, m)^3) a
// point of m links; one or a few searches for an eigenvalue of the graph.
//
// Errors: no links; parameters that [Params.Validate] refuses, as many neighbours as points; points
// with NaN or Inf; a request beyond the memory limit; ctx.Err(), wrapped.
func (l Learner) Fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	m, err := l.fit(ctx, eng, x, set)
	if err != nil {
		return nil, input.Cancelled(ctx, Method+": fit", err)
	}
	return m, nil
}

func (l Learner) fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (*Model, error) {
	f := &fit{Learner: l, eng: eng, begin: time.Now()}
	if err := f.check(x, set); err != nil {
		return nil, err
	}
	set, err := f.merge(x, set)
	if err != nil {
		return nil, err
	}
	f.stage("graph", 0)
	setup := graphkernel.Setup{Method: Method, Around: l.Params.Neighbourhood, Given: l.Similarities, Kernel: l.Kernel, Fallback: DefaultKernel, Loss: l.Params.Loss, C: l.Params.C, Delta: l.Params.Delta}
	task, err := setup.Start(ctx, eng, x, set)
	if err != nil {
		return nil, err
	}
	v, err := f.solve(ctx, task.Problem)
	if err != nil {
		return nil, err
	}
	m := &Model{params: l.Params, trace: f.d.trace, links: set, about: about{Certified: f.certified, Gap: f.gap}}
	if m.Extension, err = task.Extension(ctx, eng, v, counts); err != nil {
		return nil, err
	}
	if math.IsNaN(f.gap) {
		m.about.Gap = -1
	}
	m.status = algorithms.Status{Converged: f.converged, Iterations: f.d.sweeps, Message: f.message(), Notices: task.Notices, Elapsed: time.Since(f.begin)}
	return m, ctx.Err()
}

// fit is a call of Fit under way.
type fit struct {
	Learner
	eng       *engine.Engine
	begin     time.Time
	d         *descent
	start     blas.Matrix // rows to begin with, none for random ones
	classes   []int       // of the points, as colour makes them
	converged bool
	collapsed bool
	enough    float64 // the smallest C that does not collapse
	certified bool    // the optimum among all matrices
	gap       float64 // how far the objective can be above that, NaN for unknown
}

func (f *fit) stage(name string, sweeps int) {
	p := algorithms.Progress{Stage: name, Done: sweeps, Total: f.Params.MaxIter, Elapsed: time.Since(f.begin)}
	if f.d != nil && len(f.d.trace) > 0 {
		p.Objective = f.d.trace[len(f.d.trace)-1]
	}
	f.Progress.Report(p)
}

func (f *fit) check(x points.Points, set *links.Set) error {
	if err := f.Params.Validate(); err != nil {
		return err
	}
	if err := input.CheckPairs(f.eng, x, set); err != nil {
		return err
	}
	if set.Len() == 0 {
		return input.NoLinks(Method)
	}
	return f.Params.Check(x.Len())
}

// counts is the part of the largest eigenvalue above which one of Z counts.
const counts = 1e-10

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

// solve returns the V of all points.
func (f *fit) solve(ctx context.Context, p *graphkernel.Problem) (blas.Matrix, error) {
	if f.Start != nil {
		f.start = f.Start.Places()
	}
	if !f.reduces(p) {
		return f.whole(ctx, p)
	}
	f.stage("reduction", 0)
	r, err := p.Reduce(ctx, f.eng)
	if err != nil {
		return blas.Matrix{}, err
	}
	if f.Start != nil {
		f.start = f.start.Select(p.Boundary())
	}
	if err := f.minimise(ctx, r.Problem); err != nil {
		return blas.Matrix{}, err
	}
	return r.Restore(f.d.v)
}

// whole returns V by sweeps over all points.
func (f *fit) whole(ctx context.Context, p *graphkernel.Problem) (blas.Matrix, error) {
	if p.N.Sparse == nil {
		err := f.minimise(ctx, p)
		return f.d.v, err
	}
	c := colour(p)
	f.classes = c.start
	if f.start.Rows > 0 {
		start := blas.NewMatrix(f.start.Rows, f.start.Cols)
		for k, i := range c.order {
			copy(start.Row(k), f.start.Row(int(i)))
		}
		f.start = start
	}
	p = p.Permute(c.order)
	if err := f.minimise(ctx, p); err != nil {
		return blas.Matrix{}, err
	}
	v := blas.NewMatrix(f.d.v.Rows, f.d.v.Cols)
	for k, i := range c.order {
		copy(v.Row(int(i)), f.d.v.Row(k))
	}
	return v, nil
}

// minimise finds V, of the rank that is asked for or that the certificate wants. The hinge, where sweeps
// from anywhere would soon be caught at kinks, starts from the optimum of its square, and keeps the rank.
func (f *fit) minimise(ctx context.Context, p *graphkernel.Problem) error {
	smooth := *p
	if p.Loss == Hinge {
		smooth.Loss = SquaredHinge
	}
	if err := f.climb(ctx, &smooth); err != nil {
		return err
	}
	if done, err := f.collapse(ctx, p); done || err != nil || p.Loss != Hinge {
		return err
	}
	bound := f.below()
	f.d.Problem, f.d.trace, f.certified, f.gap = p, nil, false, math.NaN()
	f.d.take(f.d.v)
	var err error
	f.converged, err = f.d.settle(ctx, f.Params.Tol, f.d.sweeps+f.Params.MaxIter, f.sweeping)
	if err == nil && len(f.d.trace) > 0 {
		f.gap = max(0, f.d.trace[len(f.d.trace)-1]-bound)
	}
	return err
}

// below returns a bound that no objective of the hinge is below, from a certified optimum of its square: with
// the slopes h of that, G has no negative eigenvalue, so a = 2 w h is feasible for the dual of the hinge,
//
//	maximise sum a  subject to  0 <= a <= 2 w,  Delta - sum a t (E_ij + E_ji) / 2 positive semidefinite
//
// if no h is above 1, and else after division by the largest. Not certified, it returns 0.
func (f *fit) below() float64 {
	if !f.certified {
		return 0
	}
	sum, largest := 0.0, 1.0
	for i := range f.d.v.Rows {
		row := f.d.v.Row(i)
		lo, hi := f.d.Links(i)
		for e := lo; e < hi; e++ { // every link twice
			h := f.d.Loss.Slope(f.d.Sign[e] * graphkernel.Dot(row, f.d.v.Row(int(f.d.To[e]))))
			sum += f.d.Weight[e] * h
			largest = max(largest, h)
		}
	}
	return sum / largest
}

func (f *fit) sweeping() { f.stage("sweeps", f.d.sweeps) }

// firstRank is the rank that is begun with: more than the optimum has mostly. With fewer the sweeps pass
// saddle after saddle (of rank 2, usps takes 1400 of them in place of 50), and superfluous axes die away.
const firstRank = 12

// alive is the part of the largest eigenvalue of Z up to which an axis is given up on the way.
const alive = 1e-4

// climb minimises with a smooth loss, until the rank is one that is certified.
func (f *fit) climb(ctx context.Context, p *graphkernel.Problem) error {
	bound := p.RankBound()
	r := min(bound, firstRank)
	if f.Params.Rank > 0 {
		r = min(f.Params.Rank, p.Len())
	}
	f.d = newDescent(f.eng, p, f.classes, r, f.Seed)
	f.d.plain = f.Params.Plain
	if f.start.Rows > 0 && f.Params.Rank == 0 {
		f.d.take(widened(f.start, min(bound, f.start.Cols+4), f.d.v))
	}
	tol, tightened := f.Params.Tol, 0
	for {
		if err := f.settle(ctx, tol); err != nil {
			return err
		}
		if f.gap = math.NaN(); !f.converged {
			return nil
		}
		low, err := f.certify(ctx)
		if err != nil || f.certified {
			return err
		}
		negative := low.value <= -max(low.error, certified*low.norm)
		switch {
		case !negative && tightened < 4: // V is not precise enough to tell
			tol *= 0.03
			tightened++
		case !negative || f.Params.Rank > 0 || f.d.v.Cols > bound:
			return nil
		default:
			f.grow(low.vector, low.value, bound)
			tol, tightened = f.Params.Tol, 0
		}
	}
}

// settle sweeps until nothing moves, and gives up axes that have died away, if the rank is free.
func (f *fit) settle(ctx context.Context, tol float64) (err error) {
	if f.Params.Rank > 0 {
		f.converged, err = f.d.settle(ctx, tol, f.Params.MaxIter, f.sweeping)
		return err
	}
	for step := 10; ; step *= 2 {
		most := min(f.Params.MaxIter, f.d.sweeps+step)
		f.converged, err = f.d.settle(ctx, tol, most, f.sweeping)
		if err != nil || f.converged || most == f.Params.MaxIter {
			return err
		}
		if err := f.trim(ctx); err != nil {
			return err
		}
	}
}

// trim gives up the axes that have died away, unless the objective would rise: one may be on its way up.
func (f *fit) trim(ctx context.Context) error {
	v, err := graphkernel.OnAxes(ctx, f.eng, f.d.v, alive)
	if err != nil || v.Cols == f.d.v.Cols {
		return err
	}
	value, err := f.d.Objective(ctx, f.eng, v)
	if err == nil && value <= f.d.trace[len(f.d.trace)-1] {
		f.d.take(v)
	}
	return err
}

// precise is the error of eigenvalues, relative to the norm.
const precise = 0.1 * certified

// collapse finds out whether Z = 0 is the optimum, and then with which C it is not. An objective that is
// below that of 0 shows that it is not, for all losses: they have the same slope there.
func (f *fit) collapse(ctx context.Context, p *graphkernel.Problem) (bool, error) {
	nothing := 0.0
	for _, w := range p.Weight {
		nothing += w * f.d.Loss.Charge(0) / 2 // every link is there twice
	}
	if f.d.trace[len(f.d.trace)-1] < 0.999*nothing {
		return false, nil
	}
	f.stage("certificate", f.d.sweeps)
	definite := func(c float64) (bool, error) {
		a, err := p.Combined(func(_, e int) float64 { return c / p.C * p.Weight[e] * p.Sign[e] })
		if err != nil {
			return false, err
		}
		w, err := least(ctx, f.eng, a, blas.Matrix{}, precise, f.Seed)
		return w.value >= 0, err
	}
	if is, err := definite(p.C); err != nil || !is {
		return false, err
	}
	f.collapsed, f.converged, f.certified = true, true, true
	f.d = &descent{Problem: p, eng: f.eng, v: blas.NewMatrix(p.Len(), 1)}
	value, err := f.d.Objective(ctx, f.eng, f.d.v)
	if err != nil {
		return true, err
	}
	f.d.trace = []float64{value}
	lo, hi := p.C, 2*p.C
	for {
		is, err := definite(hi)
		if err != nil {
			return true, err
		}
		if !is || hi > 1e12*p.C {
			break
		}
		lo, hi = hi, 2*hi
	}
	for range 10 {
		mid := math.Sqrt(lo * hi)
		is, err := definite(mid)
		if err != nil {
			return true, err
		}
		if is {
			lo = mid
		} else {
			hi = mid
		}
	}
	f.enough = hi
	return true, nil
}

// certify finds the smallest eigenvalue of G beside the null space that V spans.
func (f *fit) certify(ctx context.Context) (bottom, error) {
	f.stage("certificate", f.d.sweeps)
	null, w, err := graphkernel.Axes(ctx, f.eng, f.d.v, counts)
	if err != nil {
		return bottom{}, err
	}
	g, err := stationarity(f.d.Problem, f.d.v)
	if err != nil {
		return bottom{}, err
	}
	low, err := least(ctx, f.eng, g, null, precise, f.Seed)
	if err != nil {
		return bottom{}, err
	}
	total := 0.0
	for _, s := range w {
		total += s
	}
	f.gap = total * max(0, low.error-low.value)
	f.certified = low.value-low.error >= -certified*low.norm
	return low, nil
}

// grow adds a column along u, in which G has the eigenvalue low < 0, and if no axis has died, small random
// ones until there are twice as many: the optimum may have many more. The objective of Z + a u u' is at
// most that of Z plus low a + sum w u_i^2 u_j^2 a^2, and exactly that for the square loss.
func (f *fit) grow(u []float64, low float64, bound int) {
	v, curved := f.d.v, 0.0
	for i := range v.Rows {
		lo, hi := f.d.Links(i)
		for e := lo; e < hi; e++ {
			p := u[i] * u[f.d.To[e]]
			curved += f.d.Weight[e] * p * p // every link twice
		}
	}
	size := math.Sqrt(-low / curved)
	cols := v.Cols + 1
	if v.Cols >= firstRank {
		cols = max(cols, min(bound, 2*v.Cols))
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
}

// message says how the fit ended.
func (f *fit) message() string {
	switch {
	case f.collapsed:
		return fmt.Sprintf("the links are too weak against the graph: the best kernel is 0 and all points are in one place; C = %.3g is the smallest that avoids it (or a smaller delta)", f.enough)
	case !f.converged:
		return fmt.Sprintf("%d sweeps did not reach the tolerance %g: raise max_iter or tol", f.d.sweeps, f.Params.Tol)
	case f.certified:
		return "certified global optimum"
	case f.Params.Loss == Hinge && !math.IsNaN(f.gap):
		return fmt.Sprintf("where the sweeps of the hinge stop, at most %.2g above the optimum", f.gap)
	case !math.IsNaN(f.gap):
		return fmt.Sprintf("a stationary point of rank %d, at most %.2g above the optimum: a larger rank may be better", f.d.v.Cols, f.gap)
	}
	return ""
}
