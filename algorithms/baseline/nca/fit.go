package nca

import (
	"context"
	"fmt"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/classes"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/lbfgs"
)

// Model is a fitted metric. The objective, 0 to 1, is the mean probability of choosing a point of the same class; it rises.
// It is immutable and safe for concurrent use.
type Model = linear.Descended[Params]

var (
	_ algorithms.Model     = (*Model)(nil)
	_ algorithms.Inputs    = (*Model)(nil)
	_ algorithms.Describer = (*Model)(nil)
	_ algorithms.Objective = (*Model)(nil)
	_ algorithms.Trace     = (*Model)(nil)
)

// Decode rebuilds a model from its file. A tensor or a part of the header that cannot be used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) { return linear.DecodeDescended[Params](Method, f) }

// Learner fits the method. The zero value does not work: Params come from [DefaultParams].
type Learner struct {
	Params   Params
	Progress algorithms.ProgressFunc
}

var _ algorithms.Learner = Learner{}

// Method returns "nca".
func (Learner) Method() string { return Method }

// Fit learns from n dense points of d features: points joined by must-links are of one class, classes joined by a
// cannot-link are different. The result has the type *[Model].
//
// Errors: no must-links, no cannot-links; parameters that [Params.Validate] refuses, more dimensions than directions; other
// than dense vectors; points with NaN or Inf, or all equal; a request beyond the memory limit; ctx.Err(), wrapped.
func (l Learner) Fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	m, err := l.fit(ctx, eng, x, set)
	if err != nil {
		return nil, input.Cancelled(ctx, Method+": fit", err)
	}
	return m, nil
}

func (l Learner) fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (*Model, error) {
	begin := time.Now()
	if err := l.Params.Validate(); err != nil {
		return nil, err
	}
	dense, err := linear.Vectors(Method, x)
	if err != nil {
		return nil, err
	}
	if err := input.Check(x, set); err != nil {
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
	if q := pc.Z.Cols; l.Params.Dims > q {
		return nil, &fault.ParamError{Param: "dims", Value: l.Params.Dims, Want: fmt.Sprintf("a number from 0 to %d, the number of directions that are learned in", q)}
	}
	p, err := newProblem(ctx, eng, pc, classes.New(set), l.Params.Dims)
	if err != nil {
		return nil, err
	}
	trace := []float64{}
	out, err := lbfgs.Minimize(ctx, eng.Backend().Kernels(), p.at, p.start, lbfgs.Options{MaxIter: l.Params.MaxIter, Done: func(iteration int, value float64, _, _ []float64) (bool, error) {
		trace = append(trace, -value)
		l.Progress.Report(algorithms.Progress{Stage: "ascent", Done: iteration, Total: l.Params.MaxIter, Objective: -value, Elapsed: time.Since(begin)})
		const window = 5
		n := len(trace)
		return n > window && trace[n-1]-trace[n-1-window] <= l.Params.Tol*trace[n-1], nil
	}})
	if err != nil {
		return nil, err
	}
	for i, v := range out.Trace {
		trace[i] = -v
	}
	status := algorithms.Status{Converged: out.Converged, Iterations: len(out.Trace) - 1, Elapsed: time.Since(begin)}
	if !out.Converged {
		status.Message = fmt.Sprintf("%d iterations did not reach the tolerance %g: raise max_iter or tol", l.Params.MaxIter, l.Params.Tol)
	}
	return linear.NewDescended(pc.Map(eng, Method, p.undivided(p.start)), l.Params, status, trace[:len(out.Trace)]), ctx.Err()
}
