// Package itml learns a metric from bounds on distances: information-theoretic metric learning
// (Davis, Kulis, Jain, Sra & Dhillon, "Information-theoretic metric learning", ICML 2007), with a
// step that is exact for every gamma. It is the base of package gml and a baseline of other
// methods.
//
// The metric is the positive definite A nearest to a prior, in the LogDet divergence, for which the
// squared distance of must-linked points is at most upper and that of cannot-linked points at least
// lower. Both bounds may be violated at a cost of gamma times the link's weight. By default upper
// and lower are percentiles of the squared distances above 0 of pairs of points under the prior.
//
// In linear mode, A is a matrix over the features. The prior is the identity or the inverse
// covariance, in the directions in which the points vary. In kernel mode, the kernel matrix K of
// the linked points is learned from K0; with the signed multipliers P of the constraints and B = P
// - P K P, the learned kernel of any two points is
//
//	k(x, y) = k0(x, y) - k0(x, .)' B k0(., y)
//
// The optimum is found by cyclic projections, one link after the other. If some sweeps do not reach
// it, Newton's method for the multipliers of all links does (solvers/logdet).
//
// Gram and Distances of a model compute this kernel. Embed projects points on the directions of the
// learned kernel matrix of the training points (at most 2000 of them, including the linked ones).
//
// # Adding links and points
//
// A model stores its links and their multipliers. [Model.AddLinks] starts from them and finds the
// optimum for all links, at the bounds of the first fit. New points require no new fit: Embed of
// the model computes their coordinates, and the metric does not change.
package itml

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// Method is the name of this method in the catalog and in model files.
const Method = "itml"

// Prior is the metric that the learned one stays close to.
type Prior string

// The priors.
const (
	Identity   Prior = "identity"
	Covariance Prior = "covariance" // the inverse covariance; linear mode only
)

// About describes the method.
var About = algorithms.About{
	Name: Method, Title: "ITML",
	Summary: "information-theoretic metric learning, linear or with a kernel (-k): the base of " +
		"geometry-aware metrics",
	Paper:           "Davis, Kulis, Jain, Sra & Dhillon, Information-theoretic metric learning, ICML 2007",
	UsesCannotLinks: true, UsesTriplets: true, Pairwise: true, Baseline: true,
}

// Params are the parameters of the method. [DefaultParams] returns the defaults.
type Params struct {
	Prior Prior   `json:"prior" param:"prior" default:"identity" choices:"identity,covariance (its inverse; not with a kernel)" help:"metric that the learned one stays close to"`
	Gamma float64 `json:"gamma" param:"gamma" default:"1" range:"> 0" help:"weight of the links relative to the prior (usually 0.1 to 10)"`
	// Upper and Lower are in units of the prior. A link's own bound takes precedence.
	logdetmetric.BoundRules
	// Landmarks are for fits with a kernel.
	logdetmetric.LandmarkRule
	Dims int `json:"dims" param:"dims" zero:"all" help:"columns of the embedding"`
	// Tol is compared with the largest change of a multiplier times its distance, and with the
	// duality gap relative to the objective.
	Tol     float64 `json:"tol" param:"tol" default:"0.001" range:"> 0" help:"relative duality gap, and change of a sweep, at which the fit stops"`
	MaxIter int     `json:"max_iter" param:"max_iter" default:"1000" range:">= 1" help:"maximum number of sweeps over the links and of Newton steps"`
}

// DefaultParams returns the usual values: gamma = 1, and the 5th and 95th percentiles as bounds.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first invalid value.
func (p Params) Validate() error {
	if err := param.Validate(p); err != nil {
		return err
	}
	return p.Check()
}

// Model is a fitted metric. It is immutable and safe for concurrent use. Embed, Gram and Distances,
// documented at [algorithms.Model], cost 2 d Dim flops per point in linear mode. In kernel mode
// Embed costs the point's kernel values with the stored points, which are the linked ones and at
// most 2000 of the fit, and 2 Dim flops for each of these. Gram and Distances cost those with the l
// linked points and 4 l^2 flops.
type Model struct {
	*fitted.Model[Params]
	about about
	warm  *logdetmetric.WarmStart // nil if read from a file without it
}

var _ algorithms.Linker = (*Model)(nil)

// about is what the header has in addition to parameters, kernel and constraints.
type about = logdetmetric.Outcome

// Links returns the links that the model was fitted on, nil if it does not store them.
func (m *Model) Links() *links.Set { return m.warm.Known() }

// Residual returns the largest residual of the optimality conditions.
func (m *Model) Residual() float64 { return m.about.Residual }

// Describe returns the statistics of the model.
func (m *Model) Describe() []algorithms.Statistic {
	return append(append(m.Model.Describe(), m.about.Describe()...), m.Held()...)
}

// Encode stores the model in f.
func (m *Model) Encode(f *model.File) error {
	return m.EncodeWith(f, m.about, m.warm.Encode(f, Method))
}

// Decode rebuilds the model that [Model.Encode] stored. An invalid tensor or header is a
// *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m := &Model{}
	var err error
	if m.Model, err = fitted.Decode[Params](Method, f, fitted.ReadEither, &m.about); err != nil {
		return nil, err
	}
	m.warm, err = logdetmetric.DecodeWarmStart(f, Method)
	return m, err
}

// Learner fits the method from the links, and from the triplets of its lesson as constraints in
// addition to them. The zero value does not work: Params come from [DefaultParams]. The result has
// the type *[Model].
//
// Kernel is the kernel to start from; the zero Spec means linear mode for dense vectors, and
// otherwise the default kernel of such points.
//
// Cost: in linear mode 4 q^2 flops per link and sweep, where q is the number of directions in which
// the points vary; in kernel mode 2 m^2, where m is the number of linked points. After at most
// 300 sweeps some ten to a hundred Newton steps take up to 4 c^3 flops each for c links, in 64
// c^2 bytes, unless these are more than 1 GiB.
//
// Errors are those of [learner.Learner.Fit]. No links and no triplets, triplets of rows that do not
// exist, a percentile as bound that is 0 up to rounding relative to the distance of an outlier, and
// a Gram matrix with negative eigenvalues are errors, too.
type Learner = learner.Learner[Params]

// Rules describes the method and the input that it requires.
func (Params) Rules() learner.Rules { return learner.Rules{About: About, Pairs: true} }

// Learn learns the metric.
func (p Params) Learn(ctx context.Context, of *learner.Fit) (algorithms.Model, error) {
	f := &fit{Fit: of, Params: p, targets: logdetmetric.Supervision{Links: of.Links, Triplets: of.Triplets}}
	if err := f.targets.Check(Method, f.X.Len()); err != nil {
		return nil, err
	}
	return f.model(ctx)
}

// model learns the metric.
func (f *fit) model(ctx context.Context) (*Model, error) {
	learn := f.kernel
	if _, dense := f.X.(*points.Dense); dense && f.Kernel == (kernel.Spec{}) {
		learn = f.linear
	}
	m, check, err := learn(ctx)
	if err != nil {
		return nil, f.before.Mismatch(err)
	}
	status := f.Status(algorithms.Status{Converged: f.result.Converged, Iterations: f.result.Sweeps,
		Message: f.message()})
	head := f.bounds.Outcome(f.targets, f.result, check)
	head.On(f.small)
	return &Model{fitted.New(m, f.Params, status), head, f.targets.WarmStart(f.result, f.Seed)}, ctx.Err()
}

// fit is the state of one call of Fit.
type fit struct {
	*learner.Fit
	Params  Params
	targets logdetmetric.Supervision
	before  *logdetmetric.WarmStart // of the model that links are added to, which fixes the bounds, or nil
	from    *fitted.Map             // of that model, in kernel mode
	bounds  logdetmetric.Bounds
	result  *logdet.Result
	small   *logdetmetric.Reduced // form of the kernel matrix, nil for the whole one
}

func (f *fit) options() logdet.Options {
	return logdet.Options{Gamma: f.Params.Gamma, Tolerance: f.Params.Tol, MaxSweeps: f.Params.MaxIter,
		Start: f.before.Start(f.targets), Progress: func(sweep int, change float64) {
			f.Report(algorithms.Progress{Stage: "projections", Done: sweep, Total: f.Params.MaxIter,
				Residual: change})
		}}
}

// linear learns a matrix over the features.
func (f *fit) linear(ctx context.Context) (m *fitted.Map, check logdet.KKT, err error) {
	const constant = 1e-12
	p, err := linear.NewPrincipal(ctx, f.Eng, f.X.(*points.Dense), constant)
	if err != nil {
		return nil, check, err
	}
	var units []float64 // in these units the prior is the identity
	if f.Params.Prior == Covariance {
		units = p.StandardDeviations()
	}
	z := p.Z.Clone()
	linear.DivideColumns(z, units)
	if err := f.findBounds(ctx, kernel.Linear(), kernel.Rows(z)); err != nil {
		return nil, check, err
	}
	constraints := f.bounds.Constraints(f.targets, nil)
	if f.result, err = logdet.Rows(ctx, f.Eng, z, constraints, f.options()); err != nil {
		return nil, check, err
	}
	check = f.result.CheckRows(f.Eng, z, constraints, f.Params.Gamma)
	axes, err := linear.Axes(ctx, f.Eng, f.result.A, f.Params.Dims)
	if err != nil {
		return nil, check, err
	}
	linear.DivideColumns(axes, units)
	return fitted.WithKernel(p.Map(f.Eng, Method, axes)), check, nil
}

func (f *fit) findBounds(ctx context.Context, k kernel.Kernel, x points.Points) error {
	impossible, err := f.targets.Drop(ctx, f.Eng, k, x)
	if err != nil {
		return err
	}
	if f.before == nil {
		f.bounds, err = f.Params.Bounds(ctx, f.Eng, k, x, len(f.targets.Triplets) > 0, f.Seed)
	}
	f.Notices = append(f.bounds.Notices(), impossible...)
	return err
}

// message describes how the fit ended.
func (f *fit) message() string {
	if !f.result.Converged {
		return fmt.Sprintf("%d sweeps did not reach the tolerance %g, the duality gap is %.2g of the "+
			"objective: raise max_iter or tol", f.result.Sweeps, f.Params.Tol, f.result.RelativeGap())
	}
	return ""
}

// kernel learns a kernel.
func (f *fit) kernel(ctx context.Context) (m *fitted.Map, check logdet.KKT, err error) {
	if f.Params.Prior != Identity {
		return nil, check, fault.Param("prior", string(f.Params.Prior), "identity with a kernel")
	}
	k, err := input.Kernel(ctx, f.Eng, f.Kernel, f.X, "linear")
	if err != nil {
		return nil, check, err
	}
	if err := f.findBounds(ctx, k, f.X); err != nil {
		return nil, check, err
	}
	linked := f.targets.Linked()
	if m, check, err := f.reduced(ctx, k, linked); m != nil || err != nil {
		return m, check, err
	}
	if err := f.Eng.Check("kernel matrix of linked points", 6*engine.MatrixBytes(len(linked), len(linked)),
		"use fewer links"); err != nil {
		return nil, check, err
	}
	block, err := k.Gram(ctx, f.Eng, f.X.Select(linked))
	if err != nil {
		return nil, check, err
	}
	k0, constraints := block.Clone(), f.bounds.Constraints(f.targets, logdetmetric.Positions(linked))
	if f.result, err = logdet.Kernel(ctx, f.Eng, block, constraints, f.options()); err != nil {
		return nil, check, err
	}
	if check, err = f.result.CheckKernel(ctx, f.Eng, k0, constraints, f.Params.Gamma); err != nil {
		return nil, check, err
	}
	if f.before != nil && f.Params.Dims == 0 {
		if m, err = f.before.Rotated(ctx, f.Eng, f.from, f.linked(k, linked), f.targets, constraints,
			f.result); err != nil {
			return nil, check, err
		}
	}
	stored := logdetmetric.SupportRows(linked, f.X.Len(), f.Seed)
	if m != nil {
		stored = f.before.Stored(f.X.Len())
	} else {
		b, err := logdetmetric.Change(ctx, f.Eng, f.result, constraints)
		if err != nil {
			return nil, check, err
		}
		if m, err = f.linked(k, linked).Learned(ctx, f.Eng, b); err != nil {
			return nil, check, err
		}
	}
	exact, err := logdetmetric.Ranked(ctx, f.Eng, k, f.X, linked, f.result, f.Seed)
	if err != nil {
		return nil, check, err
	}
	return exact.On(m, stored), check, nil
}

// linked returns the kernel with the linked points.
func (f *fit) linked(k kernel.Kernel, rows []int) logdetmetric.Linked {
	return logdetmetric.Linked{Method: Method, Kernel: k, Scale: 1, X: f.X, Rows: rows, Dims: f.Params.Dims,
		Seed: f.Seed}
}

// reduced learns a kernel in the coordinates of landmarks, or returns nil if the whole matrix is to
// be used.
func (f *fit) reduced(ctx context.Context, k kernel.Kernel,
	linked []int) (m *fitted.Map, check logdet.KKT, err error) {
	constraints := f.bounds.Constraints(f.targets, logdetmetric.Positions(linked))
	on := f.linked(k, linked)
	r, err := on.Reduce(ctx, f.Eng, constraints, f.Params.Landmarks)
	if r == nil || err != nil {
		return nil, check, err
	}
	if f.result, err = logdet.Rows(ctx, f.Eng, r.G, r.Constraints, f.options()); err != nil {
		return nil, check, err
	}
	f.small = r
	m, err = r.Learned(ctx, f.Eng, on, f.result.A)
	return m, f.result.CheckRows(f.Eng, r.G, r.Constraints, f.Params.Gamma), err
}

// AddLinks returns the model of a fit with the links of m and those of set, and with the triplets
// of m. The projections start from the multipliers of m. x are the points that m was fitted on. The
// bounds of distances are those of the fit of m, which depend on the points and not on the links.
// In kernel mode a few new links rotate the directions of m, which are then no longer sorted by
// spread.
//
// Errors are those of [learner.Learner.Fit]. Other points, a link that contradicts one of m, and a
// model whose file does not store its multipliers, like files of earlier versions, are a
// *fault.DataError.
func (m *Model) AddLinks(ctx context.Context, eng *engine.Engine, x points.Points,
	set *links.Set) (algorithms.Model, error) {
	added, err := m.add(ctx, eng, x, set)
	return fitted.Result(ctx, Method+": new links", added, err)
}

func (m *Model) add(ctx context.Context, eng *engine.Engine, x points.Points,
	set *links.Set) (*Model, error) {
	f := &fit{Fit: Learner{Params: m.Params()}.Begin(eng, x, set), Params: m.Params()}
	f.before, f.bounds = m.warm, m.about.Bounds
	var err error
	if f.targets, err = m.warm.With(eng, Method, x, set); err != nil {
		return nil, err
	}
	f.Seed = m.warm.Seed
	if m.Support() > 0 {
		f.Kernel, f.from = m.Kernel().Spec(), m.Map
	}
	added, err := f.model(ctx)
	if err == nil {
		err = learner.Measure(ctx, eng, added, x)
	}
	return added, err
}
