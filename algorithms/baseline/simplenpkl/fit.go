package simplenpkl

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

// Method returns "simplenpkl".
func (Learner) Method() string { return Method }

// Fit learns from the links of l on the points x. The result has the type *[Model]. Cost: an
// eigendecomposition (linear), or one in each of some dozens of steps (shl).
//
// Errors: no links; parameters that [Params.Validate] refuses; points with NaN or Inf; a request beyond
// the memory limit; ctx.Err(), wrapped.
func (l Learner) Fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	job := graphkernel.Job[Params]{Method: Method, Params: l.Params, Kernel: l.Kernel, Similarities: l.Similarities, RankTol: rankTol}
	return graphkernel.Learn(ctx, eng, job, x, set, func(p *graphkernel.Problem, begin time.Time) (graphkernel.Solution, error) {
		s := newSearch(ctx, eng, p, l.Params, l.Seed)
		s.report = func() {
			l.Progress.Report(algorithms.Progress{Stage: "eigendecompositions", Done: s.steps, Total: l.Params.MaxIter, Objective: s.primal, Residual: s.primal - s.dual, Elapsed: time.Since(begin)})
		}
		solve := s.ascend
		if l.Params.Loss == Linear {
			solve = s.linear
		}
		if err := solve(); err != nil {
			return graphkernel.Solution{}, err
		}
		return graphkernel.Solution{
			V: s.factor(), Result: graphkernel.Result{Objective: s.primal, Gap: s.gap()},
			Converged: s.converged, Steps: s.steps, Message: s.message(),
		}, nil
	})
}

// rankTol drops eigenvalues that are rounding.
const rankTol = 1e-12

// message says how the search ended.
func (s *search) message() string {
	switch {
	case s.converged && len(s.values) == 0:
		return "the links are too weak against the graph: the best kernel is 0 and all points are in one place; a larger C or a smaller delta avoids it"
	case s.inactive:
		return "the bound on the size of the kernel matrix is not reached, so there is no formula for it: want a smaller size"
	case !s.converged:
		return graphkernel.NotReached(s.steps, s.primal-s.dual)
	case s.cut:
		return fmt.Sprintf("of rank %d, the most that is asked for: eigenvectors beyond it are left out", len(s.values))
	case s.params.Loss == Linear:
		return "the optimum, by its formula"
	}
	return fmt.Sprintf("at most %.2g above the optimum", s.gap())
}

// Decode rebuilds the model that Encode of a model stored. A tensor or a part of the header that cannot be
// used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) { return graphkernel.DecodeFitted[Params](Method, f) }
