package sdplr

import (
	"context"
	"fmt"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
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

// New returns the learner of these parameters.
func New(p Params, c algorithms.Common) algorithms.Learner {
	return Learner{Kernel: c.Kernel, Params: p, Similarities: c.Similarities, Seed: c.Seed, Progress: c.Progress}
}

// Model is a fitted kernel matrix and its extension to new points. It is immutable and safe for concurrent use. Embed, Gram and
// Distances, as [algorithms.Model] has them, are exact for the training points, whose places are stored; a new point takes
// its distances to all of them, to find its neighbours in the graph, and 2 Dim flops for each of these. A model of given
// similarities refuses new points with a *fault.DataError.
type Model = graphkernel.Fitted[Params]

// Method returns "sdplr".
func (Learner) Method() string { return Method }

// Fit learns from the links of l on the points x. The result has the type *[Model]. Cost: 2 r flops an edge
// of the graph and step, some hundreds of steps.
//
// Errors: no links; parameters that [Params.Validate] refuses; points with NaN or Inf; a request beyond
// the memory limit; ctx.Err(), wrapped.
func (l Learner) Fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	job := graphkernel.Job[Params]{Method: Method, Params: l.Params, Kernel: l.Kernel, Similarities: l.Similarities, RankTol: rankTol}
	return graphkernel.Learn(ctx, eng, job, x, set, func(p *graphkernel.Problem, begin time.Time) (graphkernel.Solution, error) {
		s := newSearch(ctx, eng, p, l.Params, l.Seed)
		s.report = func(apart float64) {
			l.Progress.Report(algorithms.Progress{Stage: "augmented Lagrangian", Done: s.steps, Total: l.Params.MaxIter, Residual: apart, Elapsed: time.Since(begin)})
		}
		r, err := s.solve()
		message := fmt.Sprintf("about %.2g above the optimum, at most", r.Gap)
		if !s.converged {
			message = fmt.Sprintf("%d steps did not reach the tolerance %g: raise max_iter or tol", s.steps, l.Params.Tol)
		}
		return graphkernel.Solution{V: s.v, Result: r, Converged: s.converged, Steps: s.steps, Message: message}, err
	})
}

// rankTol drops eigenvalues that are as good as 0.
const rankTol = 1e-10

// Decode rebuilds the model that Encode of a model stored. A tensor or a part of the header that cannot be
// used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) { return graphkernel.DecodeFitted[Params](Method, f) }
