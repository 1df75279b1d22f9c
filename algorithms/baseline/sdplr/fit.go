package sdplr

import (
	"context"
	"fmt"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/points"
)

// Learner fits the method. The zero value does not work: Params come from [DefaultParams].
type Learner struct {
	// Kernel says in which feature space neighbours are near; the zero Spec means DefaultKernel.
	Kernel kernel.Spec
	Params Params
	// Similarities, n x n, are those of the graph named "given".
	Similarities blas.Matrix
	Seed         uint64
	Progress     algorithms.ProgressFunc
}

var _ algorithms.Learner = Learner{}

// Model is a fitted kernel matrix and its extension to new points.
type Model = graphkernel.Fitted[Params]

// Method returns "sdplr".
func (Learner) Method() string { return Method }

// Fit learns from the links of l on the points x. The result has the type *[Model]. Cost: 2 r flops an edge
// of the graph and step, some hundreds of steps.
//
// Errors: no links; parameters that [Params.Validate] refuses; points with NaN or Inf; a request beyond
// the memory limit; ctx.Err(), wrapped.
func (l Learner) Fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	m, err := l.fit(ctx, eng, x, set)
	if err != nil {
		return nil, input.Cancelled(ctx, Method+": fit", err)
	}
	return m, nil
}

func (l Learner) fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (*Model, error) {
	begin := time.Now()
	if err := l.check(x, set); err != nil {
		return nil, err
	}
	task, err := l.Params.Setup(Method, l.Kernel, l.Similarities).Start(ctx, eng, x, set)
	if err != nil {
		return nil, err
	}
	s := newSearch(ctx, eng, task.Problem, l.Params, l.Seed)
	s.report = func(apart float64) {
		l.Progress.Report(algorithms.Progress{Stage: "augmented Lagrangian", Done: s.steps, Total: l.Params.MaxIter, Residual: apart, Elapsed: time.Since(begin)})
	}
	r, err := s.solve()
	if err != nil {
		return nil, err
	}
	e, err := task.Extension(ctx, eng, s.v, rankTol)
	if err != nil {
		return nil, err
	}
	status := algorithms.Status{Converged: s.converged, Iterations: s.steps, Notices: task.Notices, Elapsed: time.Since(begin)}
	if status.Message = fmt.Sprintf("about %.2g above the optimum, at most", r.Gap); !s.converged {
		status.Message = fmt.Sprintf("%d steps did not reach the tolerance %g: raise max_iter or tol", s.steps, l.Params.Tol)
	}
	return graphkernel.NewFitted(e, l.Params, status, r), ctx.Err()
}

// rankTol drops eigenvalues that are as good as 0.
const rankTol = 1e-10

func (l Learner) check(x points.Points, set *links.Set) error {
	if err := l.Params.Validate(); err != nil {
		return err
	}
	if err := input.Check(x, set); err != nil {
		return err
	}
	if set.Len() == 0 {
		return graphkernel.NoLinks(Method)
	}
	return l.Params.Check(x.Len())
}

// Decode rebuilds the model that [Model.Encode] stored. A tensor or a part of the header that cannot be
// used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) { return graphkernel.DecodeFitted[Params](Method, f) }
