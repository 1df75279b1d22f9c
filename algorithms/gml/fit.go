package gml

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/logdet"
	"github.com/mustlink/mustlink/solvers/operator"
)

// Learner fits the method from the links, and from the triplets of its lesson as constraints in
// addition to them. The zero value does not work: Params come from [DefaultParams]. The result has
// the type *[Model].
//
// Kernel defines the feature space in which distances are measured: for the neighbors of the
// spectral prior, and for the Gaussian kernel of rbf. For datadep it is the kernel that is
// deformed. The zero Spec means "linear" ("rbf:sigma=mean" for datadep), and spectrum:k=3 for
// sequences.
//
// Cost: for the spectral prior, the nearest neighbors, r eigenvectors of their graph, and 4 r^2
// flops per link and sweep; for rbf, 2 m^2 flops per link and sweep, where m is the number of
// linked points, or 4 r^2 with r landmarks. After five to 300 sweeps some ten Newton steps take up
// to 4 c^3 flops each for c links, unless these need more than 2 GiB. A further round takes some
// dozen factorizations of order m.
//
// Errors are those of [learner.Learner.Fit]. No links and no triplets, triplets of rows that do not
// exist, as many neighbors or eigenvectors as points, and a percentile as bound that is 0 up to
// rounding relative to the distance of an outlier are errors, too.
type Learner = learner.Learner[Params]

// Rules describes the method and the input that it requires.
func (Params) Rules() learner.Rules { return learner.Rules{About: About, Pairs: true} }

// Learn learns the metric.
func (p Params) Learn(ctx context.Context, of *learner.Fit) (algorithms.Model, error) {
	f := begin(p, of)
	if err := f.targets.Check(Method, f.X.Len()); err != nil {
		return nil, err
	}
	m, err := f.model(ctx)
	return m, named(err)
}

// named adds to the error of a singular matrix which matrix it is.
func named(err error) error {
	if singular, is := errors.AsType[*blas.NotPositiveDefiniteError](err); is {
		return fault.Data("",
			"gml: a learned kernel matrix is singular to rounding (%w): want a matrix of full rank; use a "+
				"smaller gamma, a narrower kernel, or no links between points that nearly coincide", singular)
	}
	return err
}

// begin returns the state of a fit with these parameters.
func begin(p Params, f *learner.Fit) *fit {
	targets := logdetmetric.Supervision{Links: f.Links, Triplets: f.Triplets}
	return &fit{Fit: f, Params: p, given: f.Basis, targets: targets}
}

// model learns the metric.
func (f *fit) model(ctx context.Context) (*Model, error) {
	solve := f.rbf
	switch f.Params.Prior {
	case Spectral:
		solve = f.spectral
	case DataDep:
		solve = f.datadep
	}
	learned, err := solve(ctx)
	if err != nil {
		return nil, err
	}
	m := &Model{kept: learned.kept}
	// a model does not store these
	if f.Params.Prior != DataDep || f.Params.Graph != graphkernel.Given && f.given == nil {
		m.warm = f.targets.WarmStart(f.last, f.Seed)
	}
	status := f.Status(algorithms.Status{Converged: f.converged, Iterations: len(f.trace),
		Message: f.message})
	m.Traced = fitted.NewTraced(learned.Map, f.Params, status, f.trace)
	return m, ctx.Err()
}

// learned is the result of a prior and the links.
type learned struct {
	*fitted.Map
	kept
}

// fit is the state of one call of Fit.
type fit struct {
	*learner.Fit
	Params    Params
	given     *operator.Eigenpairs // vectors to weigh, nil for those that the Params name
	targets   logdetmetric.Supervision
	before    *Model // the model that links are added to, whose bounds and prior stay, or nil
	warm      *warm  // solutions of fits of other gamma, or nil
	bounds    logdetmetric.Bounds
	trace     []float64 // objective after every round
	last      *logdet.Result
	sweeps    int // of all rounds
	converged bool
	message   string
}

// options returns the options of the projections, which start from the model that links are added
// to.
func (f *fit) options() logdet.Options {
	o := logdet.Options{Gamma: f.Params.Gamma, Tolerance: f.Params.Tol, MaxSweeps: f.Params.MaxIter}
	if f.before != nil {
		o.Start = f.before.warm.Start(f.targets)
	} else {
		o.Start = f.warm.start(len(f.trace))
	}
	return o
}

// project runs the projections of a round.
func (f *fit) project(run func(o logdet.Options) (*logdet.Result, error)) (*logdet.Result, error) {
	o := f.options()
	r, err := run(o)
	// rounds of another gamma led to a prior for which these multipliers are too large
	if f.before == nil && o.Start != nil && fault.IsInput(err) {
		o.Start = nil
		r, err = run(o)
	}
	if err == nil {
		f.sweeps += r.Sweeps
		f.warm.keep(r)
	}
	return r, err
}

// find computes the bounds, in the feature space of the first prior, and drops constraints that no
// metric can satisfy.
func (f *fit) find(ctx context.Context, k kernel.Kernel, x points.Points) error {
	impossible, err := f.targets.Drop(ctx, f.Eng, k, x)
	if err != nil {
		return err
	}
	if f.before == nil {
		f.bounds, _, err = f.Params.Bounds(ctx, f.Eng, k, x, len(f.targets.Triplets) > 0, f.Seed)
	}
	f.Notices = append(append(f.Notices, f.bounds.Notices()...), impossible...)
	return err
}

// about returns the model's part of the header, for the last projections and their distance from
// the optimum.
func (f *fit) about(r *logdet.Result, check logdet.KKT) about {
	f.last = r
	return about{Outcome: f.bounds.Outcome(f.targets, r, check)}
}

// round ends a round with the objective of its projections, or their dual objective if no slack
// lets their matrix satisfy the constraints. It reports whether this was the last
// round, as always if the prior is fixed. It also reports whether it is worse than the round
// before, whose result is then kept: this happens when rounding decides which points coincide, or
// when sweeps were too few.
func (f *fit) round(r *logdet.Result) (last, worse bool) {
	objective, before := r.Objective(), math.Inf(1)
	if math.IsInf(objective, 1) {
		objective = r.Dual
	}
	if len(f.trace) > 0 {
		before = f.trace[len(f.trace)-1]
		if !(objective <= before+f.Params.Tol*max(1, math.Abs(before))) {
			return true, true
		}
	}
	f.trace = append(f.trace, objective)
	f.Report(algorithms.Progress{Stage: "rounds", Done: len(f.trace), Total: f.Params.Outer,
		Objective: objective, Residual: r.Change})
	if f.message = ""; !r.Converged {
		f.message = fmt.Sprintf(
			"%d sweeps did not reach the tolerance %g in round %d, the duality gap is %.2g of the "+
				"objective: raise max_iter or tol", r.Sweeps, f.Params.Tol, len(f.trace), r.RelativeGap())
	}
	f.converged = r.Converged
	return f.before != nil || len(f.trace) >= f.Params.Outer ||
		before-objective < f.Params.Tol*math.Abs(before), false
}
