// Package learner is the common frame of a fit: it checks parameters, points and links, measures
// the time, and reports cancellation. A method adds its mathematics.
package learner

import (
	"context"
	"slices"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/operator"
)

// Method is implemented by the parameters of each method.
type Method interface {
	// Rules describes the method and the input that it requires.
	Rules() Rules
	// Learn returns the model of input that passed the checks of the rules.
	Learn(ctx context.Context, f *Fit) (algorithms.Model, error)
}

// Interfaces of a Method that can do more.
type (
	// rowsHolder has a parameter that counts training points or names some of them.
	rowsHolder[M Method] interface {
		// Among returns the parameters for the points of these rows, with the error of
		// algorithms.Among.
		Among(rows []int) (M, error)
	}
	// pathMethod learns the metrics of many values of one parameter; see algorithms.PathLearner.
	pathMethod interface {
		PathValue() (name string, value float64)
		PathProjected() bool
		// LearnPath checks the input, too.
		LearnPath(ctx context.Context, f *Fit) (algorithms.Path, error)
	}
	// rowsMethod uses only a part of the training points; see algorithms.RowsLearner.
	rowsMethod interface {
		RowsOf(set *links.Set, seed uint64) ([]int, error)
		// LearnRows checks the input, too.
		LearnRows(ctx context.Context, f *Fit) (algorithms.Model, error)
	}
)

// Learner fits the method of its parameters. The zero value is invalid: start from the method's
// DefaultParams. A Learner is immutable and safe for concurrent use.
type Learner[M Method] struct {
	// Kernel may have a bandwidth rule, which the fit resolves on the training points. The zero
	// Spec means the method's default. Linear methods work in principal coordinates of the kernel;
	// their default is no kernel for dense vectors, linear for sparse ones and Gram matrices, and
	// spectrum:k=3 for sequences.
	Kernel kernel.Spec
	Params M
	// Similarities, n x n, are the edge weights of the graph of a method on a graph, if that is
	// "given": symmetric and not negative; their diagonal is ignored.
	Similarities blas.Matrix
	// Basis has orthonormal vectors, and values that rise with their roughness. They replace those
	// that the Params of gml or spectral name; nil means those of the Params.
	Basis *operator.Eigenpairs
	// Lesson is learned from in addition to the links. A part of it that the method does not use is
	// an error.
	algorithms.Lesson
	Seed     uint64
	Progress algorithms.ProgressFunc
}

var (
	_ algorithms.Restrictable = Learner[Method]{}
	_ algorithms.PathLearner  = Learner[Method]{}
	_ algorithms.RowsLearner  = Learner[Method]{}
)

// New returns the learner of these parameters.
func New[M Method](p M, c algorithms.Common) algorithms.Learner {
	return Learner[M]{c.Kernel, p, c.Similarities, nil, c.Lesson, c.Seed, c.Progress}
}

// Method returns the name of the method.
func (l Learner[M]) Method() string { return l.Params.Rules().Name }

// Silent returns the learner without reports of progress.
func (l Learner[M]) Silent() algorithms.Learner {
	l.Progress = nil
	return l
}

// Among returns the learner for the points of these rows, with what it holds of them:
// similarities, parameters that name rows, and the lesson. A learner with a Basis is an error.
func (l Learner[M]) Among(rows []int) (_ algorithms.Learner, err error) {
	if l.Basis != nil {
		return nil, input.Whole(l.Method(), "a given basis")
	}
	if l.Similarities, err = input.Similarities(l.Similarities, rows); err != nil {
		return nil, err
	}
	if p, holds := any(l.Params).(rowsHolder[M]); holds {
		if l.Params, err = p.Among(rows); err != nil {
			return nil, err
		}
	}
	if l.Lesson, err = l.Lesson.Among(rows); err != nil {
		return nil, err
	}
	return l, nil
}

// Fit learns from the points x and the links between them.
//
// Errors, in addition to those of the method: parameters that Validate refuses; points of a kind
// that the method does not take, points with NaN or Inf, or all equal; fewer links than the method
// requires, and a lesson that it does not use; a request above the memory limit; ctx.Err(),
// wrapped.
func (l Learner[M]) Fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (
	algorithms.Model, error) {
	f := l.Begin(eng, x, set)
	return f.Run(ctx, l.Params, func() (algorithms.Model, error) { return l.Params.Learn(ctx, f) })
}

// Begin returns a fit that begins now. It does not check its input.
func (l Learner[M]) Begin(eng *engine.Engine, x points.Points, set *links.Set) *Fit {
	common := algorithms.Common{Kernel: l.Kernel, Similarities: l.Similarities, Lesson: l.Lesson,
		Seed:     l.Seed,
		Progress: l.Progress}
	f := Begin(l.Params.Rules(), common, eng, x, set)
	f.Basis = l.Basis
	return f
}

// PathValue returns the name of the parameter of the path and the learner's value.
func (l Learner[M]) PathValue() (name string, value float64) {
	if p, has := any(l.Params).(pathMethod); has {
		return p.PathValue()
	}
	return "", 0
}

// PathProjected reports whether models keep some directions of the metric alone.
func (l Learner[M]) PathProjected() bool {
	p, has := any(l.Params).(pathMethod)
	return has && p.PathProjected()
}

// FitPath learns what the fits of all values of the parameter share.
func (l Learner[M]) FitPath(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (
	algorithms.Path, error) {
	p, has := any(l.Params).(pathMethod)
	if !has {
		return nil, l.wrong("a method with a path of metrics")
	}
	return p.LearnPath(ctx, l.Begin(eng, x, set))
}

// Rows returns the rows that a fit uses.
func (l Learner[M]) Rows(set *links.Set) ([]int, error) {
	p, part := any(l.Params).(rowsMethod)
	if !part {
		return nil, l.wrong("a method that does not need all rows")
	}
	return p.RowsOf(set, l.Seed)
}

// FitRows is Fit with the points of Rows alone.
func (l Learner[M]) FitRows(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (
	algorithms.Model, error) {
	p, part := any(l.Params).(rowsMethod)
	if !part {
		return nil, l.wrong("a method that does not need all rows")
	}
	m, err := p.LearnRows(ctx, l.Begin(eng, x, set))
	return fitted.Result(ctx, l.Method()+": fit", m, err)
}

// wrong returns the error of something that the method cannot do.
func (l Learner[M]) wrong(want string) error {
	return &fault.ParamError{Param: "method", Value: l.Method(), Want: want}
}

// Fit is the state of a running fit.
type Fit struct {
	Rules
	algorithms.Common
	Eng   *engine.Engine
	X     points.Points
	Dense *points.Dense // for a linear method: X, or its kernel principal coordinates
	Links *links.Set
	Basis *operator.Eigenpairs // that of the learner
	// Notices are the notices of the status. The first one reports ignored links, if there are any.
	Notices []string
	begin   time.Time
	axes    *linear.KernelAxes // those of Dense, nil if Dense is X
	leftOut []string           // a notice of what these leave out
}

// Begin returns a fit that begins now. It does not check its input.
func Begin(r Rules, c algorithms.Common, eng *engine.Engine, x points.Points, set *links.Set) *Fit {
	return &Fit{Rules: r, Common: c, Eng: eng, X: x, Links: set, begin: time.Now()}
}

// Run checks the input, unless the rules say that learn does, and returns the model of learn. The
// map that a linear method learns on Dense becomes one of the points, if Dense are their
// coordinates. If the context is canceled, the error names the method.
func (f *Fit) Run(ctx context.Context, p any,
	learn func() (algorithms.Model, error)) (algorithms.Model, error) {
	m, err := algorithms.Model(nil), error(nil)
	if !f.OwnCheck {
		err = f.Check(ctx, p)
	}
	if err == nil && f.Linear {
		err = f.vectors(ctx)
	}
	if err == nil {
		m, err = learn()
	}
	if err == nil && f.axes != nil {
		fitted.Compose(m.(fitted.Member).Parent(), f.axes.Map(f.Name))
	}
	if err == nil {
		err = Remark(ctx, f.Eng, f.Name, m, f.X)
	}
	if err == nil {
		err = Measure(ctx, f.Eng, m, f.X)
	}
	if err == nil {
		err = ctx.Err()
	}
	return fitted.Result(ctx, f.Name+": fit", m, err)
}

// Remark adds a notice to a model of the named method that tells none of its training points x
// apart.
func Remark(ctx context.Context, eng *engine.Engine, method string, m algorithms.Model,
	x points.Points) error {
	noted, is := m.(interface{ Note(notice string) })
	if !is {
		return nil
	}
	notice, err := flat(ctx, eng, m, x)
	if notice != "" {
		noted.Note(method + ": " + notice)
	}
	return err
}

// Check validates parameters, lesson, points and links, in this order.
func (f *Fit) Check(ctx context.Context, p any) (err error) {
	if err := fitted.Validate(p); err != nil {
		return err
	}
	if err := f.Lesson.For(f.About); err != nil {
		return err
	}
	if err := input.Check(f.X, f.Links); err != nil {
		return err
	}
	if f.X, err = kernel.Sound(ctx, f.Eng, f.X); err != nil {
		return err
	}
	if f.Pairs {
		if err := input.CheckPairs(f.Eng, f.Links); err != nil {
			return err
		}
	}
	if err := f.Rules.check(f.Links); err != nil {
		return err
	}
	if _, cannot := f.Links.Count(); cannot > 0 && f.Needs == MustLinks {
		f.Notices = []string{f.Name + " uses must-links only: " + fault.Count(cannot, "cannot-link") +
			" ignored"}
	}
	return nil
}

// vectors sets Dense: to X if these are dense vectors and no kernel is asked for, and otherwise to
// their coordinates in the feature space of the kernel.
func (f *Fit) vectors(ctx context.Context) (err error) {
	if dense, is := f.X.(*points.Dense); is && f.Kernel == (kernel.Spec{}) {
		f.Dense = dense
		return nil
	}
	asked, notice := f.Kernel, ""
	if _, is := f.X.(*points.Sequences); is && asked == (kernel.Spec{}) && f.Rules.Sequences != "" {
		if asked, err = kernel.Parse(f.Rules.Sequences); err != nil {
			return err
		}
	}
	if f.Dense, f.axes, notice, err = linear.KernelCoordinates(ctx, f.Eng, asked, f.X, f.Seed); notice != "" {
		f.leftOut = []string{f.Name + notice}
	}
	return err
}

// Report reports progress with the time since the fit began.
func (f *Fit) Report(p algorithms.Progress) {
	p.Elapsed = time.Since(f.begin)
	f.Progress.Report(p)
}

// Bounded returns a function that reports the iterations of a search with a bound of its gap to the
// optimum.
func (f *Fit) Bounded(stage string, maxIterations int) func(iteration int, objective, gap float64) {
	return func(iteration int, objective, gap float64) {
		f.Report(algorithms.Progress{Stage: stage, Done: iteration, Total: maxIterations,
			Objective: objective, Residual: gap})
	}
}

// Stages returns a function that reports the beginning of each of total stages.
func (f *Fit) Stages(total int) func(name string) {
	done := 0
	return func(name string) {
		f.Report(algorithms.Progress{Stage: name, Done: done, Total: total})
		done++
	}
}

// Status returns s with the time since the fit began and with the notices.
func (f *Fit) Status(s algorithms.Status) algorithms.Status {
	s.Elapsed, s.Notices = time.Since(f.begin), slices.Concat(f.leftOut, f.Notices)
	return s
}

// Direct returns the status of a method without iterations.
func (f *Fit) Direct() algorithms.Status { return f.Status(algorithms.Status{Converged: true}) }

// Path fits the distinct values of a parameter, the largest first, and returns of(model) for each
// of values. If check refuses a value, Path returns that error before any fit. If the context is
// canceled, the error names the method.
func Path[M, T any](ctx context.Context, method string, values []float64, check func(v float64) error,
	fit func(v float64) (M, error), of func(m M) (T, error)) ([]T, error) {
	for _, v := range values {
		if err := check(v); err != nil {
			return nil, err
		}
	}
	out := make([]T, len(values))
	err := input.Descending(values, func(v float64, positions []int) error {
		m, err := fit(v)
		for _, at := range positions {
			if err == nil {
				out[at], err = of(m)
			}
		}
		return err
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, input.Failed(ctx, method+": path", err)
	}
	return out, nil
}

// Rules describe a method and the input that it requires. A linear method learns from
// dense vectors, features or kernel principal coordinates.
type Rules struct {
	algorithms.About
	Needs Needs
	// Sequences is the kernel of a linear method for sequences if nobody asks for one, "" for
	// spectrum:k=3.
	Sequences string
	Pairs     bool // the method stores all pairs of the chunklets; their memory is checked first
	OwnCheck  bool // Learn checks the input itself, as its first report is about that
}

// Needs is the kind of links that a method requires.
type Needs int

// The kinds of links that a method may require.
const (
	Nothing   Needs = iota // none, or the method itself checks its links
	AnyLinks               // links of either kind
	MustLinks              // must-links; cannot-links are ignored, with a notice
	BothKinds              // must-links and cannot-links
	Classes                // must-links and cannot-links, from which classes are derived
)

// check returns a *fault.DataError for links that the method cannot learn from.
func (r Rules) check(set *links.Set) error {
	must, cannot := set.Count()
	switch {
	case r.Needs == AnyLinks && must+cannot == 0:
		return input.NoLinks(r.Name)
	case r.Needs == MustLinks && must == 0 && r.Pairs:
		return fault.Data("", "%s learns from must-links: want at least one, got none", r.Name)
	case r.Needs == MustLinks && must == 0:
		return fault.Data("",
			"%s learns from must-links: want at least one must-linked pair or chunklet, got none", r.Name)
	case r.Needs == BothKinds && (must == 0 || cannot == 0):
		return fault.Data("",
			"%s learns from links of both kinds: want must-links and cannot-links, got %d and %d", r.Name,
			must, cannot)
	case r.Needs == Classes && (must == 0 || cannot == 0):
		return fault.Data("", "%s learns from classes: want must-links and cannot-links, got %d and %d",
			r.Name, must, cannot)
	}
	return nil
}
