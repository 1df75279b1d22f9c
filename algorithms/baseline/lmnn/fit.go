package lmnn

import (
	"context"
	"fmt"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/classes"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Learner fits the method. The zero value does not work: Params come from [DefaultParams].
type Learner struct {
	Params   Params
	Progress algorithms.ProgressFunc
}

// New returns the learner of these parameters.
func New(p Params, c algorithms.Common) algorithms.Learner {
	return Learner{Params: p, Progress: c.Progress}
}

// Method returns "lmnn".
func (Learner) Method() string { return Method }

// Fit learns from n dense points of d features: points joined by must-links are of one class, classes
// joined by a cannot-link are different. The result has the type *[Model].
//
// Cost for m linked points, q directions and r dimensions: an iteration takes 4 m q r flops, and
// O(r) for each pair near enough to be an impostor; a search for these, every few iterations, 2 m^2 r.
//
// Errors: no must-links, no cannot-links; parameters that [Params.Validate] refuses, more dimensions
// than the data have directions; points with NaN or Inf, or all equal; a request beyond the memory
// limit; ctx.Err(), wrapped.
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
		return nil, fault.Data("", "lmnn learns from classes that differ: want must-links and cannot-links, got %d and %d", must, cannot)
	}
	p, err := linear.NewPrincipal(ctx, eng, dense, l.Params.RankTol)
	if err != nil {
		return nil, err
	}
	c := classes.New(set)
	switch l.Params.Rank {
	case 0:
	case RankEighth:
		p.Keep((len(c.Rows) + 7) / 8)
	default:
		p.Keep(l.Params.Rank)
	}
	if q := p.Z.Cols; l.Params.Dims > q {
		return nil, &fault.ParamError{Param: "dims", Value: l.Params.Dims, Want: fmt.Sprintf("a number from 0 to %d, the number of directions that are learned in", q)}
	}
	problem, err := newProblem(ctx, eng, l.Params, p.Z.Select(c.Rows), p.Variances, c)
	if err != nil {
		return nil, err
	}
	run := &descent{problem: problem, progress: l.Progress, begin: begin}
	a, err := run.minimise(ctx)
	if err != nil {
		return nil, err
	}
	status := algorithms.Status{Converged: run.converged, Iterations: len(run.trace) - 1, Message: run.message(), Elapsed: time.Since(begin)}
	return record.NewTraced(p.Map(eng, Method, problem.undivided(a)), l.Params, status, run.trace), ctx.Err()
}

// Model is a fitted metric, the linear map y = W (x - mean). It is immutable and safe for concurrent use. Embed, Gram and
// Distances, as [algorithms.Model] has them, are exact and take 2 d Dim flops a point. The objective falls.
type Model = record.Traced[Params]

// Decode rebuilds a model from its file. A tensor or a part of the header that cannot be used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	return record.DecodeTraced[Params](Method, f, maps.ReadLinear)
}
