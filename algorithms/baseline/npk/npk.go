package npk

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/sdp"
)

// Method is the name of this method in the catalog and in model files.
const Method = "npk"

// DefaultKernel is the kernel in whose feature space a Learner without one looks for neighbours.
const DefaultKernel = graphkernel.DefaultKernel

// most is the number of points up to which it is of use: the time grows like the third power.
const most = 500

// About says what the method is.
var About = algorithms.About{
	Name:            Method,
	Title:           "NPK",
	Summary:         "the problem of npkl as a semidefinite program, for up to 500 points: its baseline",
	Paper:           "Hoi, Jin & Lyu, Learning nonparametric kernel matrices from pairwise constraints, ICML 2007",
	DefaultKernel:   DefaultKernel,
	UsesCannotLinks: true,
	Pairwise:        true,
	Baseline:        true,
	Small:           true,
}

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	graphkernel.Settings `choices:"loss=hl (hinge),shl (squared hinge),sl (square)" default:"loss=hl"`
	Tol                  float64 `json:"tol" param:"tol" default:"1e-06" range:"> 0" help:"duality gap that ends the fit, relative to 1 + the objective"`
}

// DefaultParams returns the hinge, the paper's, on a graph of 5 neighbors.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	if err := param.Validate(p); err != nil {
		return err
	}
	return p.Check(math.MaxInt)
}

// Learner fits the method. The zero value does not work: Params come from [DefaultParams].
type Learner struct {
	// Kernel says in which feature space neighbours are near; the zero Spec means DefaultKernel.
	Kernel kernel.Spec
	Params Params
	// Similarities, n x n, are those of the graph named "given".
	Similarities blas.Matrix
	Progress     algorithms.ProgressFunc
}

// New returns the learner of these parameters.
func New(p Params, c algorithms.Common) algorithms.Learner {
	return Learner{Kernel: c.Kernel, Params: p, Similarities: c.Similarities, Progress: c.Progress}
}

// Model is a fitted kernel matrix and its extension to new points. It is immutable and safe for concurrent use. Embed, Gram and
// Distances, as [algorithms.Model] has them, are exact for the training points, whose places are stored; a new point takes
// its distances to all of them, to find its neighbours in the graph, and 2 Dim flops for each of these. A model of given
// similarities refuses new points with a *fault.DataError.
type Model = graphkernel.Fitted[Params]

// Method returns "npk".
func (Learner) Method() string { return Method }

// Fit learns from the links of l on the points x, up to 500. The result has the type *[Model]. Cost: some
// hundred times 10 n^3 flops.
//
// Errors: no links, more than 500 points; parameters that [Params.Validate] refuses; points with NaN or
// Inf; a request beyond the memory limit; ctx.Err(), wrapped.
func (l Learner) Fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	job := graphkernel.Job[Params]{Method: Method, Params: l.Params, Kernel: l.Kernel, Similarities: l.Similarities, Most: most, RankTol: rankTol}
	return graphkernel.Learn(ctx, eng, job, x, set, func(p *graphkernel.Problem, begin time.Time) (graphkernel.Solution, error) {
		res, err := sdp.Minimise(ctx, eng, p.Energy(), p.Terms(), sdp.Options{Tolerance: l.Params.Tol, Progress: func(step int, objective, gap float64) {
			l.Progress.Report(algorithms.Progress{Stage: "interior point", Done: step, Objective: objective, Residual: gap, Elapsed: time.Since(begin)})
		}})
		if err != nil {
			return graphkernel.Solution{}, err
		}
		message := fmt.Sprintf("at most %.2g above the optimum", res.Gap)
		if !res.Converged {
			message = graphkernel.NotReached(res.Steps, res.Gap)
		}
		return graphkernel.Solution{
			V: res.Factor, Result: graphkernel.Result{Objective: res.Objective, Gap: res.Gap},
			Converged: res.Converged, Steps: res.Steps, Message: message,
		}, nil
	})
}

// rankTol drops what the barrier keeps from 0.
const rankTol = 1e-6

// Decode rebuilds the model that Encode of a model stored. A tensor or a part of the header that cannot be
// used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) { return graphkernel.DecodeFitted[Params](Method, f) }
