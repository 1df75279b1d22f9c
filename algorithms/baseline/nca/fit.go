package nca

import (
	"context"
	"fmt"
	"slices"
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
	"github.com/mustlink/mustlink/solvers/lbfgs"
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
	if q := pc.Z.Cols; l.Params.Dims > q {
		return nil, &fault.ParamError{Param: "dims", Value: l.Params.Dims, Want: fmt.Sprintf("a number from 0 to %d, the number of directions that are learned in", q)}
	}
	p, err := newProblem(ctx, eng, pc, classes.New(set), l.Params.Dims)
	if err != nil {
		return nil, err
	}
	run := &ascent{problem: p, params: l.Params, progress: l.Progress, begin: begin}
	if err := run.climb(ctx); err != nil {
		return nil, err
	}
	status := algorithms.Status{Converged: run.converged, Iterations: len(run.trace) - 1, Elapsed: time.Since(begin)}
	if !run.converged {
		status.Message = fmt.Sprintf("%d iterations did not reach the tolerance %g: raise max_iter or tol", l.Params.MaxIter, l.Params.Tol)
	}
	return record.NewTraced(pc.Map(eng, Method, p.undivided(run.best)), l.Params, status, run.trace), ctx.Err()
}

// ascent is the search for the map.
type ascent struct {
	*problem
	params    Params
	progress  algorithms.ProgressFunc
	begin     time.Time
	trace     []float64 // best objective so far, at the start and after every iteration
	best      []float64 // the map that has it
	converged bool      // of the ascent that found it
}

// climb ascends from the start, and from the halves of what it comes to.
func (s *ascent) climb(ctx context.Context) error {
	t, at := s.eng.Backend().Kernels(), s.start
	for range 1 + s.params.Contractions {
		before := 0.0
		if len(s.trace) > 0 {
			before = s.trace[len(s.trace)-1]
		}
		var own []float64
		out, err := lbfgs.Minimize(ctx, t, s.at, at, lbfgs.Options{MaxIter: s.params.MaxIter, Done: func(_ int, value float64, _, _ []float64) (bool, error) {
			own = append(own, -value)
			s.trace = append(s.trace, max(before, -value))
			s.progress.Report(algorithms.Progress{Stage: "ascent", Done: len(s.trace) - 1, Objective: -value, Elapsed: time.Since(s.begin)})
			const window, nothing = 5, 1e-8
			n := len(own)
			return 1+value < nothing || n > window && own[n-1]-own[n-1-window] <= s.params.Tol*(1-own[n-1]), nil
		}})
		if err != nil {
			return err
		}
		if reached := -out.Trace[len(out.Trace)-1]; s.best == nil || reached > before {
			s.best, s.converged = slices.Clone(at), out.Converged
			if last := len(s.trace) - 1; s.trace[last] < reached {
				s.trace = append(s.trace, reached)
			}
		}
		const little = 1e-6
		if 1-s.trace[len(s.trace)-1] < little {
			return nil // there is no more to gain
		}
		t.Scale(0.5, at)
	}
	return nil
}
