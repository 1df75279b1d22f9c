package npkl

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
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
	Kernel   kernel.Spec
	Params   Params
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
	f.stage("graph", 0)
	setup := graphkernel.Setup{Method: Method, Around: l.Params.around(), Kernel: l.Kernel, Fallback: DefaultKernel, Loss: l.Params.Loss, C: l.Params.C, Delta: l.Params.Delta}
	task, err := setup.Start(ctx, eng, x, set)
	if err != nil {
		return nil, err
	}
	if err := f.minimise(ctx, task.Problem); err != nil {
		return nil, err
	}
	m := &Model{params: l.Params, trace: f.d.trace, about: about{Certified: f.certified, Gap: f.gap}}
	if m.Extension, err = task.Extension(ctx, eng, f.d.v, counts); err != nil {
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
	if err := input.Check(x, set); err != nil {
		return err
	}
	if set.Len() == 0 {
		return fault.Data("", "npkl learns from links: want at least one, got none")
	}
	return f.Params.around().Check(x.Len())
}

// counts is the part of the largest eigenvalue above which one of Z counts.
const counts = 1e-10

// minimise finds V, of the rank that is asked for or that the certificate wants. The hinge, where sweeps
// from anywhere would soon be caught at kinks, starts from the optimum of its square, and keeps the rank.
func (f *fit) minimise(ctx context.Context, p *graphkernel.Problem) error {
	if done, err := f.collapse(ctx, p); done || err != nil {
		return err
	}
	if p.Loss != Hinge {
		return f.climb(ctx, p)
	}
	smooth := *p
	smooth.Loss = SquaredHinge
	if err := f.climb(ctx, &smooth); err != nil {
		return err
	}
	f.d.Problem, f.d.trace, f.certified, f.gap = p, nil, false, math.NaN()
	f.d.take(f.d.v)
	var err error
	f.converged, err = f.d.settle(ctx, f.Params.Tol, f.d.sweeps+f.Params.MaxIter, f.sweeping)
	return err
}

func (f *fit) sweeping() { f.stage("sweeps", f.d.sweeps) }

// climb minimises with a smooth loss, from a small rank to the one that is certified.
func (f *fit) climb(ctx context.Context, p *graphkernel.Problem) error {
	bound := p.RankBound()
	r := min(bound, 2)
	if f.Params.Rank > 0 {
		r = min(f.Params.Rank, p.N.Rows)
	}
	f.d = newDescent(p, f.eng.Backend().Kernels(), r, f.Seed)
	tol, tightened := f.Params.Tol, 0
	for {
		var err error
		if f.converged, err = f.d.settle(ctx, tol, f.Params.MaxIter, f.sweeping); err != nil {
			return err
		}
		if f.gap = math.NaN(); !f.converged {
			return nil
		}
		direction, err := f.certify(ctx)
		if err != nil || f.certified {
			return err
		}
		switch {
		case direction == nil && tightened < 4: // V is not precise enough to tell
			tol *= 0.03
			tightened++
		case direction == nil || f.Params.Rank > 0 || f.d.v.Cols > bound:
			return nil
		default:
			f.grow(direction)
			tol, tightened = f.Params.Tol, 0
		}
	}
}

// collapse finds out whether Z = 0 is the optimum, and then with which C it is not.
func (f *fit) collapse(ctx context.Context, p *graphkernel.Problem) (bool, error) {
	definite := func(c float64) (bool, error) {
		a := p.Combined(func(_, e int) float64 { return c / p.C * p.Weight[e] * p.Sign[e] })
		w, err := least(ctx, f.eng, a, blas.Matrix{}, f.Seed)
		return w.value >= 0, err
	}
	if is, err := definite(p.C); err != nil || !is {
		return false, err
	}
	f.collapsed, f.converged, f.certified = true, true, true
	f.d = &descent{Problem: p, v: blas.NewMatrix(p.N.Rows, 1)}
	f.d.trace = []float64{f.d.Objective(f.d.v)}
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

// certify looks for a negative eigenvalue of G, beside the null space that V spans, and returns its
// eigenvector, nil when V is not precise enough to tell.
func (f *fit) certify(ctx context.Context) ([]float64, error) {
	f.stage("certificate", f.d.sweeps)
	null, w, err := graphkernel.Axes(ctx, f.eng, f.d.v, counts)
	if err != nil {
		return nil, err
	}
	low, err := least(ctx, f.eng, stationarity(f.d.Problem, f.d.v), null, f.Seed)
	if err != nil {
		return nil, err
	}
	total := 0.0
	for _, s := range w {
		total += s
	}
	f.gap = total * max(0, low.error-low.value)
	f.certified = low.value-low.error >= -certified*low.norm
	if low.value > -max(low.error, certified*low.norm) {
		return nil, nil
	}
	return low.vector, nil
}

// grow adds a column along a direction in which the objective falls.
func (f *fit) grow(direction []float64) {
	v, size := f.d.v, 0.0
	for _, x := range v.Data {
		size += x * x
	}
	size = math.Sqrt(size)
	wider := blas.NewMatrix(v.Rows, v.Cols+1)
	for i := range v.Rows {
		copy(wider.Row(i), v.Row(i))
		wider.Set(i, v.Cols, 0.1*size*direction[i])
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
	case !math.IsNaN(f.gap):
		return fmt.Sprintf("a stationary point of rank %d, at most %.2g above the optimum: a larger rank may be better", f.d.v.Cols, f.gap)
	}
	return ""
}
