package nca

import (
	"context"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/classes"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/algorithms/internal/softmax"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Model is a fitted metric. The objective, 0 to 1, is the mean probability of choosing a point of the same class; its trace is the best so far.
// It is immutable and safe for concurrent use. Embed, Gram and
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

// Method returns "nca".
func (Learner) Method() string { return Method }

// Fit learns from n dense points of d features: points joined by must-links are of one class, classes joined by a
// cannot-link are different. The result has the type *[Model].
//
// Errors: no must-links, no cannot-links; parameters that [Params.Validate] refuses, more dimensions than directions; other
// than dense vectors; points with NaN or Inf, or all equal; a request beyond the memory limit; ctx.Err(), wrapped.
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
	if must, cannot := set.Count(); must == 0 || cannot == 0 {
		return nil, fault.Data("", "%s learns from classes that differ: want must-links and cannot-links, got %d and %d", Method, must, cannot)
	}
	pc, err := linear.NewPrincipal(ctx, eng, dense, l.Params.RankTol)
	if err != nil {
		return nil, err
	}
	if l.Params.Rank > 0 {
		pc.Keep(l.Params.Rank)
	}
	p, err := newProblem(ctx, eng, pc, classes.New(set), l.Params.Dims)
	if err != nil {
		return nil, err
	}
	run, err := p.Climb(ctx, softmax.Options{
		Tol: l.Params.Tol, Contractions: l.Params.Contractions, MaxIter: l.Params.MaxIter, Progress: l.Progress, Begin: begin}, p.start)
	if err != nil {
		return nil, err
	}
	return record.NewTraced(p.Map(Method, run.Best), l.Params, run.Status, run.Trace), ctx.Err()
}
