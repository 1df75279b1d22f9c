// Package sdml learns a sparse linear metric: sparse determinant metric learning (Qi, Tang, Zha, Chen & Zhang, "An efficient
// sparse metric learning in high-dimensional space via L1-penalized log-determinant regularization", ICML 2009). A baseline.
//
// With s_ij = 1 for a must-link and -1 for a cannot-link, times its weight, the matrix M of the metric minimizes
//
//	tr(P M) - log det M + lambda sum_{a != b} |M_ab|,  P = M0^-1 + eta sum_ij s_ij (x_i - x_j)(x_i - x_j)'
//
// over positive definite matrices: must-links short, cannot-links long, M near the prior M0 in LogDet divergence, and pairs of
// features that hardly matter left out. This is the graphical lasso of P, which package solvers/glasso solves until the duality gap
// is small for each feature. The status tells the gap. M0 is the identity, or the inverse covariance of the points.
//
// Cannot-links make P indefinite as eta grows, and then the objective mostly has no lower bound: M grows without end along
// directions in which cannot-links are longer than must-links. No eigenvalue of P is moved to hide that, since M would then be the
// answer to another prior. Instead eta has a unit in which it does not occur: eta = balance / rho, for the spectral radius rho of
// the sum over the links as the prior sees it, M0^1/2 (sum) M0^1/2. With balance < 1, P is at least (1 - balance) M0^-1, and there
// is a solution, except for a singular covariance without sparsity. With a larger balance there may be one: it is found, or else the
// error names the balance up to which P is definite. lambda = sparsity times the mean of the diagonal of M0^-1, so that balance and
// sparsity mean the same whatever the units of the features, and however many the links.
//
// Features that do not vary have no part in the metric.
package sdml

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/glasso"
)

// Method is the name of this method in the catalog and in model files.
const Method = "sdml"

// About says what the method is.
var About = algorithms.About{
	Name:            Method,
	Title:           "SDML",
	Summary:         "sparse determinant metric learning, linear: a sparse matrix near a prior",
	Paper:           "Qi, Tang, Zha, Chen & Zhang, An efficient sparse metric learning in high-dimensional space via L1-penalized log-determinant regularization, ICML 2009",
	Linear:          true,
	UsesCannotLinks: true,
	Pairwise:        true,
	Baseline:        true,
}

// Prior says what the metric is near to.
type Prior string

// The priors.
const (
	Identity   Prior = "identity"
	Covariance Prior = "covariance" // the inverse covariance of the points
)

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	Prior    Prior   `json:"prior" param:"prior" default:"identity" choices:"identity,covariance (its inverse)" help:"metric to stay near to"`
	Balance  float64 `json:"balance" param:"balance" default:"0.5" range:">= 0" help:"weight of the links; below 1 there is a solution for sure"`
	Sparsity float64 `json:"sparsity" param:"sparsity" default:"0.01" range:">= 0" help:"weight of what is off the diagonal, relative to the mean variance with prior=covariance"`
	Tol      float64 `json:"tol" param:"tol" default:"1e-6" range:"> 0" help:"duality gap for each feature that ends the fit"`
	MaxIter  int     `json:"max_iter" param:"max_iter" default:"500" range:">= 1" help:"most sweeps over the features"`
}

// DefaultParams returns half the weight of the links that is sure to have a solution, and the identity to stay near to.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error { return param.Validate(p) }

// Model is a fitted metric: M = W'W for the upper triangular W of its map. The objective is that of the package comment, of features
// divided by the root of the mean of the diagonal of M0^-1. It is immutable and safe for concurrent use. Embed, Gram and Distances,
// as [algorithms.Model] has them, are exact and take 2 d Dim flops a point.
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

// New returns the learner of these parameters.
func New(p Params, c algorithms.Common) algorithms.Learner {
	return Learner{Params: p, Progress: c.Progress}
}

// Method returns "sdml".
func (Learner) Method() string { return Method }

// maxFeatures keeps a fit within minutes: a sweep over the features takes 4 d^3 flops.
const maxFeatures = 2048

// Fit learns from n dense points of d features, at most 2048, and the links between them, of either kind. The result has the type
// *[Model].
//
// Cost: d^2 flops a link, and some ten sweeps of the graphical lasso of 4 d^3 flops, less for a sparse M.
//
// Errors: no links, or only between equal points; parameters that [Params.Validate] refuses, or without a solution; other than dense
// vectors; points with NaN or Inf, or all equal; a request beyond the memory limit; ctx.Err(), wrapped.
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
	if err := input.CheckPairs(eng, x, set); err != nil {
		return nil, err
	}
	if set.Len() == 0 {
		return nil, input.NoLinks(Method)
	}
	if dense.D > maxFeatures {
		return nil, fault.Data("", "%d features: want at most %d for %s (use xrca, or leading principal components)", dense.D, maxFeatures, Method)
	}
	need := engine.MatrixBytes(dense.N, 2*dense.D) + engine.MatrixBytes(dense.D, 12*dense.D)
	if err := eng.Check(fmt.Sprintf("matrices of %d features", dense.D), need, "use fewer features"); err != nil {
		return nil, err
	}
	p, err := newProblem(ctx, eng, dense, set, l.Params)
	if err != nil {
		return nil, err
	}
	r, err := glasso.Solve(ctx, eng, p.matrix, l.Params.Sparsity, glasso.Options{Tol: l.Params.Tol, MaxIter: l.Params.MaxIter, Progress: func(sweep int, objective, gap float64) {
		l.Progress.Report(algorithms.Progress{Stage: "graphical lasso", Done: sweep, Objective: objective, Residual: gap, Elapsed: time.Since(begin)})
	}})
	if errors.Is(err, glasso.ErrUnbounded) || err == nil && math.IsInf(r.Gap, 1) {
		return nil, p.noSolution(l.Params)
	}
	if err != nil {
		return nil, err
	}
	w, err := p.factor(ctx, eng, r.M)
	if err != nil {
		return nil, err
	}
	status := algorithms.Status{Converged: r.Converged, Iterations: r.Sweeps, Elapsed: time.Since(begin)}
	status.Message = fmt.Sprintf("duality gap %.2g, weight of a link %.3g", r.Gap, p.eta)
	if !r.Converged {
		status.Message += fmt.Sprintf(": %d sweeps did not reach the tolerance %g (raise max_iter, tol or sparsity)", r.Sweeps, l.Params.Tol)
	}
	return linear.NewDescended(linear.New(Method, p.mean, w), l.Params, status, r.Trace), ctx.Err()
}
