package mlkr

import (
	"context"
	"fmt"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/algorithms/internal/softmax"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Model is a fitted metric. The objective, at most 1, is the share of the variance of the targets that leave-one-out kernel
// regression explains; its trace is the best so far.
// It is immutable and safe for concurrent use. Embed, Gram and Distances, as [algorithms.Model] has them, are exact and take
// 2 d Dim flops a point.
type Model = record.Traced[Params]

// Decode rebuilds a model from its file. A tensor or a part of the header that cannot be used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	return record.DecodeTraced[Params](Method, f, maps.ReadLinear)
}

// Learner fits the method. The zero value does not work: Params come from [DefaultParams], targets from [Learner.WithTargets].
type Learner struct {
	Params   Params
	Progress algorithms.ProgressFunc
	targets  []float64
}

var _ algorithms.Targets = Learner{}

// New returns a learner that still needs targets.
func New(p Params, c algorithms.Common) algorithms.Learner {
	return Learner{Params: p, Progress: c.Progress}
}

// Method returns "mlkr".
func (Learner) Method() string { return Method }

// WithTargets returns the learner that learns from these, one finite number for each training row. It keeps the slice.
func (l Learner) WithTargets(values []float64) algorithms.Learner {
	l.targets = values
	return l
}

// Fit learns from n dense points of d features and n targets. Links are ignored with a notice. The result has the type
// *[Model].
//
// Errors: no targets, targets that are not finite, all equal or not one for each point; parameters that [Params.Validate]
// refuses, more dimensions than directions; other than dense vectors; points with NaN or Inf, or all equal; a request beyond
// the memory limit; ctx.Err(), wrapped.
func (l Learner) Fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	m, err := l.fit(ctx, eng, x, set)
	return record.Result(ctx, Method+": fit", m, err)
}

func (l Learner) fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (*Model, error) {
	begin := time.Now()
	dense, err := input.Dense(Method, l.Params, x, set)
	if err != nil {
		return nil, err
	}
	if err := input.Targets(Method, l.targets, dense.N); err != nil {
		return nil, err
	}
	pc, err := linear.NewPrincipal(ctx, eng, dense, l.Params.RankTol)
	if err != nil {
		return nil, err
	}
	if l.Params.Rank > 0 {
		pc.Keep(l.Params.Rank)
	}
	p, err := newProblem(ctx, eng, pc, l.targets, l.Params.Dims)
	if err != nil {
		return nil, err
	}
	starts, err := p.starts(pc.Variances, l.Params.Starts)
	if err != nil {
		return nil, err
	}
	run, err := p.Climb(ctx, softmax.Options{Tol: l.Params.Tol, MaxIter: l.Params.MaxIter, Progress: l.Progress, Begin: begin}, starts...)
	if err != nil {
		return nil, err
	}
	if n := set.Len(); n > 0 {
		run.Status.Notices = []string{fmt.Sprintf("%s learns from targets: %d links ignored", Method, n)}
	}
	return record.NewTraced(p.Map(Method, run.Best), l.Params, run.Status, run.Trace), ctx.Err()
}
