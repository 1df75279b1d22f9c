package mmc

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/lbfgs"
)

// Model is a fitted metric. The objective is the sum of the distances of cannot-linked points where that of the squared
// ones of must-linked points, with eps, is 1; it rises. It is immutable and safe for concurrent use. Embed, Gram and
// Distances, as [algorithms.Model] has them, are exact and take 2 d Dim flops a point.
type Model = record.Traced[Params]

// Decode rebuilds a model from its file. A tensor or a part of the header that cannot be used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	return record.DecodeTraced[Params](Method, f, maps.ReadLinear)
}

// Learner fits the method. The zero value does not work: Params come from [DefaultParams].
type Learner struct {
	Params   Params
	Progress algorithms.ProgressFunc
}

// New returns the learner of these parameters.
func New(p Params, c algorithms.Common) algorithms.Learner {
	return Learner{Params: p, Progress: c.Progress}
}

// Method returns "mmc".
func (Learner) Method() string { return Method }

// Fit learns from n dense points of d features and the links between them, of both kinds. The result has the type *[Model].
//
// Cost for m cannot-links and q directions: 4 m q^2 flops an iteration, 4 m q for a diagonal matrix.
//
// Errors: no must-links or no cannot-links, must-links between equal points only with eps_rel = 0; parameters that
// [Params.Validate] refuses; other than dense vectors; points with NaN or Inf, or all equal; a request beyond the memory
// limit; ctx.Err(), wrapped.
func (l Learner) Fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	m, err := l.fit(ctx, eng, x, set)
	return record.Result(ctx, Method+": fit", m, err)
}

func (l Learner) fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (*Model, error) {
	begin := time.Now()
	if err := l.Params.Validate(); err != nil {
		return nil, err
	}
	dense, err := input.Vectors(Method, x)
	if err != nil {
		return nil, err
	}
	if err := input.CheckPairs(eng, x, set); err != nil {
		return nil, err
	}
	if must, cannot := set.Count(); must == 0 || cannot == 0 {
		return nil, fault.Data("", "%s learns from both: want must-links and cannot-links, got %d and %d", Method, must, cannot)
	}
	if err := eng.Check(fmt.Sprintf("mmc on %d links", set.Len()), 4*engine.MatrixBytes(set.Len(), dense.D), "use fewer links"); err != nil {
		return nil, err // differences of linked points, and what is computed of each
	}
	p, frame, err := l.frame(ctx, eng, dense, set)
	if err != nil {
		return nil, err
	}
	trace, converged, err := l.ascend(ctx, p, begin)
	if err != nil {
		return nil, err
	}
	status := algorithms.Status{Converged: converged, Iterations: len(trace) - 1, Elapsed: time.Since(begin)}
	if p.twins > 0 {
		status.Notices = append(status.Notices, fmt.Sprintf("%d cannot-links join equal points, which no metric can take apart, and are left out", p.twins))
	}
	if !converged {
		status.Message = fmt.Sprintf("after %d iterations the optimum may be %.2g of the objective away: raise max_iter or tol", l.Params.MaxIter, p.last)
	}
	return record.NewTraced(frame(p.start), l.Params, status, trace), ctx.Err()
}

// ascend solves the problem and leaves L in p.start.
func (l Learner) ascend(ctx context.Context, p *problem, begin time.Time) (trace []float64, converged bool, err error) {
	done := func(iteration int, objective, gap float64) bool {
		l.Progress.Report(algorithms.Progress{Stage: "ascent", Done: iteration, Total: l.Params.MaxIter, Objective: objective, Residual: gap, Elapsed: time.Since(begin)})
		return gap <= l.Params.Tol
	}
	if p.diagonal {
		return p.newton(ctx, l.Params.MaxIter, done)
	}
	out, err := lbfgs.Minimize(ctx, p.eng.Backend().Kernels(), p.at, p.start, lbfgs.Options{MaxIter: l.Params.MaxIter, Done: func(iteration int, value float64, at, gradient []float64) (bool, error) {
		const every = 5 // a gap costs as much as an evaluation
		if iteration%every != 0 && iteration < l.Params.MaxIter {
			return false, nil
		}
		gap, err := p.gap(ctx, at)
		return done(iteration, math.Exp(-value), gap), err
	}})
	if err != nil {
		return nil, false, err
	}
	for _, v := range out.Trace {
		trace = append(trace, math.Exp(-v))
	}
	return trace, out.Converged, nil
}

// frame returns the problem in coordinates in which the scatter of the must-links is the identity, and what makes a map of
// its solution.
func (l Learner) frame(ctx context.Context, eng *engine.Engine, x *points.Dense, set *links.Set) (*problem, func([]float64) *maps.Map, error) {
	if l.Params.Diagonal {
		return l.diagonal(eng, x, set)
	}
	return l.full(ctx, eng, x, set)
}

// differences returns those of linked rows.
func differences(x blas.Matrix, list []links.Link) blas.Matrix {
	out := blas.NewMatrix(len(list), x.Cols)
	for k, l := range list {
		to, from := out.Row(k), x.Row(l.J)
		for c, v := range x.Row(l.I) {
			to[c] = v - from[c]
		}
	}
	return out
}

// noScatter says that must-links cost nothing.
func noScatter() error {
	return fault.Data("", "the must-linked points do not differ in all directions: want eps_rel > 0, or more must-links")
}
