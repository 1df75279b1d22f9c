package nonlinear

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// NPKDefaultKernel is the kernel whose feature space defines neighbors for a Learner without a
// kernel.
const NPKDefaultKernel = graphkernel.DefaultKernel

// npkMost is the maximum number of points: the time grows like the third power.
const npkMost = 500

// NPKAbout describes the method.
var NPKAbout = algorithms.About{
	Name:    NPKMethod,
	Title:   "NPK",
	Summary: "the problem of npkl as a semidefinite program, for up to 500 points: its baseline",
	Paper: "Hoi, Jin & Lyu, Learning nonparametric kernel matrices from pairwise constraints, " +
		"ICML 2007",
	DefaultKernel:   NPKDefaultKernel,
	UsesCannotLinks: true,
	Pairwise:        true,
	Baseline:        true,
	Small:           true,
}

// NPK learns a kernel matrix on a graph by semidefinite
// programming: non-parametric kernel learning (Zhuang, Tsang & Hoi, "A family of simple
// non-parametric kernel learning algorithms", JMLR 12, 2011; Hoi, Jin & Lyu, ICML 2007). It solves
// the problem of package npkl for few points, by an interior-point method with a duality gap.
//
// The fields are the parameters of the method. [NPKDefaults] returns the defaults.
type NPK struct {
	graphkernel.Settings `choices:"loss=hl (hinge),shl (squared hinge),sl (square)" default:"loss=hl"`
	Tol                  float64 `json:"tol" param:"tol" default:"1e-06" range:"> 0" help:"the fit stops at this duality gap, relative to 1 + the objective"`
}

// NPKDefaults returns the hinge, like the paper, on a graph of 5 neighbors.
func NPKDefaults() NPK { return param.Default[NPK]() }

// Validate returns a *fault.ParamError for the first invalid value.
func (p NPK) Validate() error { return graphkernel.Validate(p, p.Neighborhood) }

// NPKLearner learns from the links on at most 500 points. The result has the type *[NPKModel]. Its
// Kernel defines the feature space of the neighbors; the zero Spec means DefaultKernel. Cost: some
// hundred times 10 n^3 flops.
type NPKLearner = learner.Learner[NPK]

// Rules returns what the method requires of its input.
func (NPK) Rules() learner.Rules { return graphkernel.Rules(NPKAbout) }

// NPKModel is a fitted kernel matrix and its extension to new points.
type NPKModel = graphkernel.Fitted[NPK]

// Learn fits the method.
func (p NPK) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	if n := f.X.Len(); n > npkMost {
		return nil, graphkernel.TooMany(NPKMethod, npkMost, n)
	}
	return graphkernel.Learn(ctx, f, p, npkRankTol,
		func(problem *graphkernel.Problem) (graphkernel.Solution, error) {
			res, err := optimize.MinimizeSDP(ctx, f.Eng, problem.Energy(), problem.Terms(),
				optimize.SDPOptions{Tolerance: p.Tol, Progress: f.Bounded("interior point", 0)})
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

// npkRankTol drops eigenvalues that only the barrier keeps above 0.
const npkRankTol = 1e-6

// DecodeNPK rebuilds the model that Encode of a model stored. An invalid tensor or header is a
// *fault.DataError.
func DecodeNPK(f *model.File) (*NPKModel, error) { return graphkernel.DecodeFitted[NPK](NPKMethod, f) }
