package baseline

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// SDMLPrior is the metric that the learned one stays close to.
type SDMLPrior string

// The priors.
const (
	SDMLIdentity   SDMLPrior = "identity"
	SDMLCovariance SDMLPrior = "covariance" // the inverse covariance of the points
)

// SDML learns a sparse linear metric: sparse determinant metric
// learning (Qi, Tang, Zha, Chen & Zhang, "An efficient sparse metric learning in high-dimensional
// space via L1-penalized log-determinant regularization", ICML 2009). A baseline.
//
// Let s_ij be the weight of a must-link, or minus the weight of a cannot-link. The matrix M of the
// metric minimizes
//
//	tr(P M) - log det M + lambda sum_{a != b} |M_ab|
//	P = M0^-1 + eta sum_ij s_ij (x_i - x_j)(x_i - x_j)'
//
// over positive definite matrices: it makes must-links short and cannot-links long, stays close to
// the prior M0 in LogDet divergence, and drops pairs of features that hardly matter. It is the
// graphical lasso of P, which optimize.Glasso solves until the duality gap is small. M0^-1
// is the identity or the covariance C of the points, to which 1e-10 of its mean variance is added;
// a feature that does not vary counts as one of mean variance.
//
// Cannot-links make P indefinite as eta grows, and then the objective usually has no lower bound.
// The eigenvalues of P are not changed to hide this, because M would then belong to another prior.
// Instead, the unit of eta prevents it: eta = balance / rho, where rho is the spectral radius of
// the sum over links relative to the prior, M0^1/2 (sum) M0^1/2. With balance < 1, P is at least (1
// - balance) M0^-1, and there is a solution. A larger balance is an error that names the limit,
// unless sparsity is large enough for a solution. lambda is sparsity times the mean of the diagonal
// of M0^-1, so that neither depends on the units of the features or the number of links.
//
// The fields are the parameters of the method.
type SDML struct {
	Prior    SDMLPrior `json:"prior" param:"prior" default:"identity" choices:"identity,covariance (its inverse)" help:"metric that the learned one stays close to"`
	Balance  float64   `json:"balance" param:"balance" default:"0.95" range:">= 0" help:"weight of the links; below 1 there is always a solution"`
	Sparsity float64   `json:"sparsity" param:"sparsity" default:"0.01" range:">= 0" help:"penalty of off-diagonal elements, relative to the mean variance with prior=covariance"`
	Tol      float64   `json:"tol" param:"tol" default:"1e-06" range:"> 0" help:"the fit stops at this duality gap per feature"`
	MaxIter  int       `json:"max_iter" param:"max_iter" default:"500" range:">= 1" help:"maximum number of sweeps over the features"`
}

// SDMLModel is a fitted metric: M = W'W for the upper triangular W of its map. The objective is
// that of the comment of [SDML], with P divided by the mean of the diagonal of M0^-1. It is
// immutable and safe for concurrent use.
type SDMLModel = fitted.Traced[SDML]

// SDMLLearner learns from n dense points of d features, at most 2048, and the links between them,
// of either kind, some between points that differ. The result has the type *[SDMLModel]; its status
// reports the duality gap and eta. Parameters without a solution are an error.
//
// Cost: d^2 flops per link, and some ten sweeps of the graphical lasso of 4 d^3 flops each, fewer
// for a sparse M.
type SDMLLearner = learner.Learner[SDML]

// Rules returns what the method requires of its input.
func (SDML) Rules() learner.Rules {
	return learner.Rules{Needs: learner.AnyLinks, Pairs: true, About: algorithms.About{
		Name: SDMLMethod, Title: "SDML",
		Summary: "sparse determinant metric learning, linear: a sparse matrix near a prior",
		Paper: "Qi, Tang, Zha, Chen & Zhang, An efficient sparse metric learning in high-dimensional " +
			"space via L1-penalized log-determinant regularization, ICML 2009",
		Linear: true, UsesCannotLinks: true, Pairwise: true, Baseline: true,
	}}
}

// maxFeatures keeps a fit within minutes: a sweep over the features takes 4 d^3 flops.
const maxFeatures = 2048

// Learn fits the method.
func (p SDML) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	eng, dense := f.Eng, f.Dense
	if dense.D > maxFeatures {
		return nil, fault.Data("",
			"%d features: want at most %d for %s (use xrca, or leading principal components)", dense.D,
			maxFeatures, SDMLMethod)
	}
	need := engine.MatrixBytes(dense.N, dense.D) + engine.MatrixBytes(dense.D, 12*dense.D)
	if err := eng.Check(fmt.Sprintf("matrices of %d features", dense.D), need,
		"use fewer features"); err != nil {
		return nil, err
	}
	problem, err := newSDMLProblem(ctx, eng, dense, f.Links, p)
	if err != nil {
		return nil, err
	}
	r, err := optimize.Glasso(ctx, eng, problem.matrix, p.Sparsity,
		optimize.GlassoOptions{Tol: p.Tol, MaxIter: p.MaxIter, Progress: f.Bounded("graphical lasso", 0)})
	if errors.Is(err, optimize.ErrUnbounded) || err == nil && math.IsInf(r.Gap, 1) {
		return nil, fault.Param("balance", p.Balance, "a number below %.3g, or a larger sparsity: "+
			"cannot-links outweigh the prior, and the objective has no lower bound", problem.limit)
	}
	if err != nil {
		return nil, err
	}
	if err := eng.Cholesky(ctx, r.M); err != nil {
		return nil, err
	}
	w := eng.NewMatrix(dense.D, dense.D)
	for i := range w.Rows {
		for k, v := range r.M.Row(i)[:i+1] {
			w.Set(k, i, v/math.Sqrt(problem.unit))
		}
	}
	status := f.Status(algorithms.Status{Converged: r.Converged, Iterations: r.Sweeps})
	status.Message = fmt.Sprintf("duality gap %.2g, weight of a link %.3g", r.Gap, problem.eta)
	if !r.Converged {
		status.Message += fmt.Sprintf(
			": %d sweeps did not reach the tolerance %g (raise max_iter, tol or sparsity)", r.Sweeps, p.Tol)
	}
	return fitted.NewTraced(fitted.NewLinear(SDMLMethod, problem.mean, w), p, status, r.Trace), nil
}

// sdmlProblem is the matrix P.
type sdmlProblem struct {
	matrix blas.Matrix // P divided by unit, both triangles
	unit   float64     // the mean of the diagonal of M0^-1
	eta    float64     // the weight of a link
	limit  float64     // the balance up to which P is positive definite
	mean   []float64   // of the points
}

func newSDMLProblem(ctx context.Context, eng *engine.Engine, x *points.Dense, set *links.Set,
	params SDML) (*sdmlProblem, error) {
	d, t := x.D, eng.Backend().Kernels()
	z := blas.MatrixOf(x.N, d, x.Data).Clone()
	p := &sdmlProblem{mean: linear.Center(z), matrix: eng.NewMatrix(d, d), unit: 1}
	pull, apart := eng.NewMatrix(d, d), eng.NewMatrix(d, d)
	if err := linear.LinkScatter(ctx, eng, z, set.Must(), pull); err != nil {
		return nil, err
	}
	if err := linear.LinkScatter(ctx, eng, z, set.Cannot(), apart); err != nil {
		return nil, err
	}
	size, whole := 0.0, 0.0
	for k, v := range apart.Data {
		whole = max(whole, math.Abs(v), math.Abs(pull.Data[k]))
		pull.Data[k] -= v
		size = max(size, math.Abs(pull.Data[k]))
	}
	eng.Mirror(pull)
	if size <= 1e-14*whole {
		return nil, fault.Data("",
			"the differences of the links cancel, or all links join equal points: want links between "+
				"points that differ")
	}
	t.Scale(1/size, pull.Data)
	if params.Prior == SDMLCovariance {
		p.unit = covariance(eng, z, p.matrix)
	} else {
		p.matrix.Shift(1)
	}
	white, err := linear.Whiten(ctx, eng, p.matrix.Clone(), 0, 0)
	if err != nil {
		return nil, err
	}
	half, seen, w := apart, eng.NewMatrix(white.Rows, white.Rows), make([]float64, white.Rows)
	eng.Backend().Gemm(false, false, 1, white, pull, 0, half)
	eng.Backend().Gemm(false, true, 1, half, white, 0, seen)
	if err := eng.SymEig(ctx, seen, w, false); err != nil {
		return nil, err
	}
	low, high := w[0], w[len(w)-1]
	rho := max(-low, high)
	p.eta, p.limit = params.Balance/rho*(p.unit/size), rho/max(0, -low)
	t.Axpy(params.Balance/rho, pull.Data, p.matrix.Data)
	return p, nil
}

// covariance writes the covariance of the centered points to c, both triangles, divided by the mean
// variance, which it returns.
func covariance(eng *engine.Engine, z, c blas.Matrix) (unit float64) {
	const ridge, constant = 1e-10, 1e-100
	eng.Backend().Syrk(true, 1/float64(z.Rows), z, 0, c)
	eng.Mirror(c)
	for i := range c.Rows {
		unit += c.At(i, i) / float64(c.Rows)
	}
	eng.Backend().Kernels().Scale(1/unit, c.Data)
	for i := range c.Rows {
		if c.At(i, i) < constant {
			c.Set(i, i, 1)
		}
		c.Set(i, i, c.At(i, i)+ridge)
	}
	return unit
}
