// Package simplenpkl (engine room: may change) learns a kernel matrix on a graph by
// eigendecompositions: SimpleNPKL (Zhuang, Tsang & Hoi, "A family of simple non-parametric kernel
// learning algorithms", JMLR 12, 2011). It is a baseline of package npkl.
//
// Among all positive semidefinite K with a Frobenius norm of at most S, it finds the one that
// minimizes
//
//	tr(Delta K) + C sum l(t_ij K_ij)
//
// over the links, each once, with Delta as in package npkl. Without the bound S the kernel of the
// linear loss l(f) = -f would be infinite. With it, the kernel is S A+ / |A+|, where A+ is the
// positive part of A = C sum t_ij (E_ij + E_ji) / 2 - Delta: one eigendecomposition.
//
// With the squared hinge (shl) the problem has the dual
//
//	maximize over a >= 0:  sum a - sum a^2 / (4 C) - S |A(a)+|,
//	A(a) = sum a_ij t_ij (E_ij + E_ji) / 2 - Delta
//
// whose gradient is 1 - a / (2 C) - t K with K = S A+ / |A+|. It is maximized by projected gradient
// ascent, with an eigendecomposition in every step, until the gap between primal and dual objective
// closes.
//
// The rank r of a solution satisfies r(r+1)/2 <= the number of links, so no more eigenvectors are
// computed. New points get their coordinates as in package npkl.
package simplenpkl

import (
	"context"
	"fmt"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
)

// Method is the name of this method in the catalog and in model files.
const Method = "simplenpkl"

// DefaultKernel is the kernel whose feature space defines neighbors for a Learner without a kernel.
const DefaultKernel = graphkernel.DefaultKernel

// The losses.
const (
	Linear       graphkernel.Loss = "linear" // -f
	SquaredHinge                  = graphkernel.SquaredHinge
)

// About describes the method.
var About = algorithms.About{
	Name:            Method,
	Title:           "SimpleNPKL",
	Summary:         "non-parametric kernels of bounded size by eigendecompositions: a baseline of npkl",
	Paper:           "Zhuang, Tsang & Hoi, A family of simple non-parametric kernel learning algorithms, JMLR 12, 2011",
	DefaultKernel:   DefaultKernel,
	UsesCannotLinks: true,
	Pairwise:        true,
	Baseline:        true,
	Small:           true,
}

// Params are the parameters of the method. [DefaultParams] returns the defaults.
type Params struct {
	graphkernel.Settings `choices:"loss=linear,shl (squared hinge)" default:"loss=shl"`
	Size                 float64 `json:"size" param:"size" default:"0.1" range:">= 1e-15, <= 1e15" help:"maximum Frobenius norm of the kernel matrix, relative to the number of points"`
	Rank                 int     `json:"rank" param:"rank" zero:"as many as the number of links requires" help:"maximum number of eigenvectors"`
	Tol                  float64 `json:"tol" param:"tol" default:"0.001" range:"> 0" help:"the fit stops at this gap between primal and dual objective, relative to the objective of 0"`
	MaxIter              int     `json:"max_iter" param:"max_iter" default:"500" range:">= 1" help:"maximum number of eigendecompositions"`
}

// DefaultParams returns the squared hinge on a graph of 5 neighbors.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first invalid value.
func (p Params) Validate() error { return graphkernel.Validate(p, p.Neighborhood) }

// Learner learns from the links on the points. The result has the type *[Model]. Its Kernel defines
// the feature space of the neighbors; the zero Spec means DefaultKernel. Cost: an
// eigendecomposition (linear), or one in each of some dozens of steps (shl).
type Learner = learner.Learner[Params]

// Rules returns what the method requires of its input.
func (Params) Rules() learner.Rules { return graphkernel.Rules(About) }

// Model is a fitted kernel matrix and its extension to new points.
type Model = graphkernel.Fitted[Params]

// Learn fits the method.
func (p Params) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	return graphkernel.Learn(ctx, f, p, rankTol, func(problem *graphkernel.Problem) (graphkernel.Solution, error) {
		s := newSearch(ctx, f.Eng, problem, p, f.Seed)
		s.report = func() {
			f.Report(algorithms.Progress{Stage: "eigendecompositions", Done: s.steps, Total: p.MaxIter, Objective: s.primal, Residual: s.primal - s.dual})
		}
		solve := s.ascend
		if p.Loss == Linear {
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

// rankTol drops eigenvalues that are only rounding.
const rankTol = 1e-12

// message describes how the search ended.
func (s *search) message() string {
	switch {
	case s.converged && len(s.values) == 0:
		return "the links are too weak relative to the graph: the best kernel is 0 and all points have the same coordinates; a larger C or a smaller delta avoids it"
	case s.inactive:
		return "the bound on the size of the kernel matrix is not reached, so there is no formula for it: want a smaller size"
	case !s.converged:
		return graphkernel.NotReached(s.steps, s.primal-s.dual)
	case s.cut:
		return fmt.Sprintf("rank %d, the maximum that was set: further eigenvectors are dropped", len(s.values))
	case s.params.Loss == Linear:
		return "the optimum, by its formula"
	}
	return fmt.Sprintf("at most %.2g above the optimum", s.gap())
}

// Decode rebuilds the model that Encode of a model stored. An invalid tensor or header is a
// *fault.DataError.
func Decode(f *model.File) (*Model, error) { return graphkernel.DecodeFitted[Params](Method, f) }
