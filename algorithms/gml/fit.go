package gml

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/basis"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/algorithms/internal/outofsample"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
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
		f.bounds, err = f.Params.Bounds(ctx, f.Eng, k, x, len(f.targets.Triplets) > 0, f.Seed)
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

// AddLinks returns the model of the links of m and those of set, and of the triplets of m: the
// kernel matrix nearest to the prior M that m has learned. The projections start from the
// multipliers of m. x are the points that m was fitted on.
//
// M and the bounds of distances stay as they are; a fit of all links would adapt M further. With
// outer = 1, where no fit adapts M, the result is that of a fit of all links. With dims = 0, a few
// new links rotate the directions of m, which are then no longer sorted by spread; with fewer, the
// directions are computed again.
//
// Errors are those of [learner.Learner.Fit]. Other points, a link that contradicts one of m, and a
// model without the data for this are a *fault.DataError. A model lacks the data if its file is of
// an earlier version, or if its data-dependent prior was built on given similarities or vectors.
func (m *Model) AddLinks(ctx context.Context, eng *engine.Engine, x points.Points,
	set *links.Set) (algorithms.Model, error) {
	f, err := m.more(eng, x, set)
	if err != nil {
		return nil, err
	}
	added, err := f.model(ctx)
	if err == nil {
		err = learner.Measure(ctx, eng, added, x)
	}
	return fitted.Result(ctx, Method+": new links", added, m.warm.Mismatch(named(err)))
}

// more returns the fit of additional links.
func (m *Model) more(eng *engine.Engine, x points.Points, set *links.Set) (*fit, error) {
	f := begin(m.Params(), Learner{Params: m.Params()}.Begin(eng, x, set))
	f.before, f.bounds = m, m.about.Bounds
	var err error
	if f.targets, err = m.warm.With(eng, Method, x, set); err != nil {
		return nil, err
	}
	f.Params.Metric = "" // the kernel already includes the metric
	f.Seed = m.warm.Seed
	f.Kernel, err = m.base()
	return f, err
}

// base returns the kernel whose feature space defines the distances between points; the Gaussian
// kernel of rbf is a function of these distances.
func (m *Model) base() (kernel.Spec, error) {
	if m.Params().Prior != RBF {
		return m.Kernel().Spec(), nil
	}
	if !(m.sigma() > 0) || !(m.about.Alpha > 0) {
		return kernel.Spec{},
			fault.Data("", "the model has the kernel %s times %g: want a Gaussian kernel times a number > "+
				"0 for prior=rbf", m.Kernel(), m.about.Alpha)
	}
	_, base, on := strings.Cut(m.Kernel().String(), "@")
	if !on {
		base = "linear"
	}
	return kernel.Parse(base)
}

// sigma returns the learned width of the Gaussian prior.
func (m *Model) sigma() float64 { return sigma(m.Kernel().String()) }

// turned returns the map of the model that links are added to, for the kernel that was learned from
// all links. It returns nil if there is no such model, or if new directions are to be computed.
func (f *fit) turned(ctx context.Context, linked []int, constraints []logdet.Constraint,
	r *logdet.Result) (*fitted.Map, error) {
	if f.before == nil || f.Params.Dims > 0 {
		return nil, nil
	}
	return f.before.warm.Rotated(ctx, f.Eng, f.before.Map, f.on(f.before.Kernel(), 1, linked), f.targets,
		constraints, r)
}

// on returns a kernel times scale with the linked points.
func (f *fit) on(k kernel.Kernel, scale float64, linked []int) logdetmetric.Linked {
	return logdetmetric.Linked{Method: Method, Kernel: k, Scale: scale, X: f.X, Rows: linked,
		Dims: f.Params.Dims, Seed: f.Seed}
}

// moved learns with the spectral prior of the model that links are added to, whose coordinates are
// the rows of G L.
func (f *fit) moved(ctx context.Context) (*learned, error) {
	old, b := f.before, f.Eng.Backend()
	g := old.Coordinates().Clone()
	b.Trsm(false, false, old.factor, g)
	if err := f.find(ctx, kernel.Linear(), kernel.Rows(g)); err != nil {
		return nil, err
	}
	constraints := f.bounds.Constraints(f.targets, nil)
	res, err := logdet.Rows(ctx, f.Eng, g, constraints, f.options())
	if err != nil {
		return nil, err
	}
	f.round(res)
	check := res.CheckRows(f.Eng, g, constraints, f.Params.Gamma)
	l, err := f.factor(ctx, res.A)
	if err != nil {
		return nil, err
	}
	return &learned{old.turned(f.Eng, g, l), kept{f.about(res, check), old.weights, l}}, nil
}

// turned returns the map to the coordinates G L.
func (m *Model) turned(eng *engine.Engine, g, l blas.Matrix) *fitted.Map {
	b := eng.Backend()
	if e, is := m.Extension().(*outofsample.NystromExtension); is {
		r := e.NystromRule
		r.Turn = r.Turn.Clone()
		b.Trsm(false, false, m.factor, r.Turn)
		b.Trmm(false, false, l, r.Turn)
		return outofsample.NewNystrom(eng, Method, e.Kernel, e.Support, r)
	}
	y := g.Clone()
	b.Trmm(false, false, l, y)
	return outofsample.WithCoordinates(m.Map, y)
}
