// Package sdplr (engine room: may change) learns a kernel matrix on a graph by a low-rank augmented
// Lagrangian: SDPLR (Burer & Monteiro, "A nonlinear programming algorithm for solving semidefinite
// programs via low-rank factorization", Mathematical Programming 95, 2003). It solves the problem
// of package npkl, and is one of its baselines.
//
// With Z = V V' and a slack s for each link, the losses l(1 - s) subject to s = 1 - t Z_ij have
// multipliers a. The minimum over s is known: a link with the residual u = 1 - t Z_ij contributes
//
//	max over b of  b u - conjugate(b) - (b - a)^2 / (2 rho)
//
// where b is free (sl, conjugate b^2/(4C)), b >= 0 (shl, the same conjugate) or 0 <= b <= 2 C (hl,
// conjugate 0). This is smooth in V, and limited-memory BFGS minimizes it; then a becomes the best
// b, and rho grows if s is not close enough. Unlike the sweeps of npkl, this also converges for the
// hinge.
//
// If Delta - sum a t (E_ij + E_ji) / 2 has no negative eigenvalue, then Z is the optimum among all
// matrices; a negative eigenvalue bounds the gap. New points get their coordinates as in package
// npkl.
package sdplr

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
const Method = "sdplr"

// DefaultKernel is the kernel whose feature space defines neighbors for a Learner without a kernel.
const DefaultKernel = graphkernel.DefaultKernel

// About describes the method.
var About = algorithms.About{
	Name:            Method,
	Title:           "SDPLR",
	Summary:         "the problem of npkl by a low-rank augmented Lagrangian: its baseline",
	Paper:           "Burer & Monteiro, A nonlinear programming algorithm for solving semidefinite programs via low-rank factorization, Mathematical Programming 95, 2003",
	DefaultKernel:   DefaultKernel,
	UsesCannotLinks: true,
	Pairwise:        true,
	Baseline:        true,
	Small:           true,
}

// Params are the parameters of the method. [DefaultParams] returns the defaults.
type Params struct {
	graphkernel.Settings `choices:"loss=hl (hinge),shl (squared hinge),sl (square)" default:"loss=hl"`
	Rank                 int `json:"rank" param:"rank" zero:"as many as the number of links requires" help:"number of dimensions"`
	// Tol is compared with the root mean square difference between slacks and residuals, and with
	// the length of the gradient relative to 1 + |V|.
	Tol     float64 `json:"tol" param:"tol" default:"1e-05" range:"> 0" help:"the fit stops when slacks differ from residuals by less than this, and the relative gradient is below it"`
	MaxIter int     `json:"max_iter" param:"max_iter" default:"10000" range:">= 1" help:"maximum number of steps"`
}

// DefaultParams returns the hinge on a graph of 5 neighbors.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first invalid value.
func (p Params) Validate() error { return graphkernel.Validate(p, p.Neighborhood) }

// Learner learns from the links on the points. The result has the type *[Model]. Its Kernel defines
// the feature space of the neighbors; the zero Spec means DefaultKernel. Cost: 2 r flops per edge
// of the graph and step, for some hundreds of steps.
type Learner = learner.Learner[Params]

// Rules returns what the method requires of its input.
func (Params) Rules() learner.Rules { return graphkernel.Rules(About) }

// Model is a fitted kernel matrix and its extension to new points.
type Model = graphkernel.Fitted[Params]

// Learn fits the method.
func (p Params) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	return graphkernel.Learn(ctx, f, p, rankTol, func(problem *graphkernel.Problem) (graphkernel.Solution, error) {
		s := newSearch(ctx, f.Eng, problem, p, f.Seed)
		s.report = func(apart float64) {
			f.Report(algorithms.Progress{Stage: "augmented Lagrangian", Done: s.steps, Total: p.MaxIter, Residual: apart})
		}
		r, err := s.solve()
		message := fmt.Sprintf("at most about %.2g above the optimum", r.Gap)
		if !s.converged {
			message = fmt.Sprintf("%d steps did not reach the tolerance %g: raise max_iter or tol", s.steps, p.Tol)
		}
		return graphkernel.Solution{V: s.v, Result: r, Converged: s.converged, Steps: s.steps, Message: message}, err
	})
}

// rankTol drops eigenvalues that are practically 0.
const rankTol = 1e-10

// Decode rebuilds the model that Encode of a model stored. An invalid tensor or header is a
// *fault.DataError.
func Decode(f *model.File) (*Model, error) { return graphkernel.DecodeFitted[Params](Method, f) }
