// Package mmc (engine room: may change) learns a linear metric under which must-linked points are
// close and cannot-linked points far apart: Xing, Ng, Jordan & Russell, "Distance metric learning,
// with application to clustering with side-information" (NIPS 15, 2002), full and diagonal.
//
// The metric is the positive semidefinite A (or the diagonal one) with the largest
//
//	sum over cannot-links of sqrt(d'A d)    where    sum over must-links of d'A d = 1
//
// for the differences d of linked points. A fraction eps of the must-links' mean scatter is added
// in all directions; otherwise directions in which no must-link varies would cost nothing.
//
// # Method
//
// The first sum grows like the square root of A, the second like A. With A = L L' the problem is to
// maximize
//
//	h(L) = log sum sqrt(|L'd|^2) - log(tr L'W L) / 2,    W = sum dd' + eps I
//
// without constraints, in coordinates in which W is the identity; L is square. The problem in A is
// concave, so for a square L every local maximum is global (Burer & Monteiro 2005). Limited-memory
// BFGS takes some dozens of evaluations; alternating projections on a half-space and on the cone
// take thousands of eigendecompositions. The gradient M of the first sum bounds the distance to the
// optimum by lambda_max(M) - tr(M A) (for a diagonal A, by the largest element of M's diagonal
// instead of lambda_max), and the search stops by this bound. A diagonal A is found by Newton steps
// on the weights that are not 0, which are few.
package mmc

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/lbfgs"
)

// Method is the name of this method in the catalog and in model files.
const Method = "mmc"

// About describes the method.
var About = algorithms.About{
	Name:            Method,
	Title:           "MMC",
	Summary:         "maximizes the distances of cannot-links for bounded distances of must-links, linear: full or one weight per feature",
	Paper:           "Xing, Ng, Jordan & Russell, Distance metric learning, with application to clustering with side-information, NIPS 15, 2002",
	Linear:          true,
	UsesCannotLinks: true,
	Pairwise:        true,
	Baseline:        true,
}

// Params are the parameters of the method. [DefaultParams] returns the defaults.
type Params struct {
	Diagonal bool `json:"diagonal" param:"diagonal" help:"true learns one weight per feature, not a matrix"`
	// EpsRel has a default for features of similar scales. If some scales are much larger than
	// others, 1e-3 prevents these features from dominating.
	EpsRel  float64 `json:"eps_rel" param:"eps_rel" default:"0.1" range:">= 0, <= 1e15" help:"scatter added to that of the must-links, relative to its mean"`
	RankTol float64 `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a principal direction counts as constant"`
	Tol     float64 `json:"tol" param:"tol" default:"0.0001" range:"> 0" help:"the search stops at this relative distance to the optimum"`
	MaxIter int     `json:"max_iter" param:"max_iter" default:"1000" range:">= 1" help:"maximum number of iterations"`
}

// DefaultParams returns a full matrix.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first invalid value.
func (p Params) Validate() error { return param.Validate(p) }

// Model is a fitted metric. The objective is the sum of the distances of cannot-linked points,
// scaled so that the sum of the squared distances of must-linked points, with eps, is 1; it rises.
type Model = record.Traced[Params]

// Decode rebuilds a model from its file. An invalid tensor or header is a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	return record.DecodeTraced[Params](Method, f, maps.ReadLinear)
}

// Learner learns from n dense points of d features and the links between them, of both kinds. The
// result has the type *[Model]. Must-links that all join equal points, with eps_rel = 0, are an
// error.
//
// Cost for m cannot-links and q directions: 4 m q^2 flops per iteration, or 4 m q for a diagonal
// matrix.
type Learner = learner.Learner[Params]

// Rules returns what the method requires of its input.
func (Params) Rules() learner.Rules {
	return learner.Rules{About: About, Needs: learner.BothKinds, Pairs: true}
}

// Learn fits the method.
func (p Params) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	if err := f.Eng.Check(fmt.Sprintf("mmc on %d links", f.Links.Len()), 4*engine.MatrixBytes(f.Links.Len(), f.Dense.D), "use fewer links"); err != nil {
		return nil, err // memory for differences of linked points, and intermediate results for each
	}
	problem, frame, err := p.frame(ctx, f.Eng, f.Dense, f.Links)
	if err != nil {
		return nil, err
	}
	trace, converged, err := p.ascend(ctx, f, problem)
	if err != nil {
		return nil, err
	}
	status := algorithms.Status{Converged: converged, Iterations: len(trace) - 1}
	if problem.twins > 0 {
		f.Notices = append(f.Notices, fmt.Sprintf("%d cannot-links join equal points, which no metric can separate, and are ignored", problem.twins))
	}
	if !converged {
		status.Message = fmt.Sprintf("after %d iterations the optimum may be %.2g of the objective away: raise max_iter or tol", p.MaxIter, problem.last)
	}
	return record.NewTraced(frame(problem.start), p, f.Status(status), trace), nil
}

// ascend solves the problem and writes L to the start of the problem.
func (p Params) ascend(ctx context.Context, f *learner.Fit, problem *problem) (trace []float64, converged bool, err error) {
	done := func(iteration int, objective, gap float64) bool {
		f.Report(algorithms.Progress{Stage: "ascent", Done: iteration, Total: p.MaxIter, Objective: objective, Residual: gap})
		return gap <= p.Tol
	}
	if problem.diagonal {
		return problem.newton(ctx, p.MaxIter, done)
	}
	out, err := lbfgs.Minimize(ctx, f.Eng.Backend().Kernels(), problem.at, problem.start, lbfgs.Options{MaxIter: p.MaxIter, Done: func(iteration int, value float64, at, gradient []float64) (bool, error) {
		const every = 5 // a gap costs as much as an evaluation
		if iteration%every != 0 && iteration < p.MaxIter {
			return false, nil
		}
		gap, err := problem.gap(ctx, at)
		return done(iteration, math.Exp(-value), gap), err
	}})
	if err != nil {
		return nil, false, err
	}
	for _, v := range out.Trace {
		trace = append(trace, math.Exp(-v))
	}
	return trace, out.Converged, nil
}

// frame returns the problem in coordinates in which the scatter of the must-links is the identity,
// and the function that turns its solution into a map.
func (p Params) frame(ctx context.Context, eng *engine.Engine, x *points.Dense, set *links.Set) (*problem, func([]float64) *maps.Map, error) {
	if p.Diagonal {
		return p.diagonal(eng, x, set)
	}
	return p.full(ctx, eng, x, set)
}

// differences returns the differences of linked rows.
func differences(x blas.Matrix, list []links.Link) blas.Matrix {
	out := blas.NewMatrix(len(list), x.Cols)
	for k, l := range list {
		to, from := out.Row(k), x.Row(l.J)
		for c, v := range x.Row(l.I) {
			to[c] = v - from[c]
		}
	}
	return out
}

// noScatter returns the error of must-links that cost nothing.
func noScatter() error {
	return fault.Data("", "the must-linked points do not differ in all directions: want eps_rel > 0, or more must-links")
}
