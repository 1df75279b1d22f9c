// Package lfda is local Fisher discriminant analysis (Sugiyama, "Dimensionality reduction of multimodal labeled data by local Fisher
// discriminant analysis", JMLR 8, 2007). A baseline, linear.
//
// Points of one must-link component are of one class; two classes are different where a cannot-link joins them, so labels
// become links by links.FromLabels. Of the n linked points, n_c in class c,
//
//	Sw = 1/2 sum_ij in one class A_ij / n_c (x_i - x_j)(x_i - x_j)'
//	Sb = 1/2 sum_ij in one class A_ij (1/n - 1/n_c) (x_i - x_j)(x_i - x_j)' + 1/2 sum_ij in different ones 1/n (x_i - x_j)(x_i - x_j)'
//
// where A_ij = exp(-|x_i - x_j|^2 / (s_i s_j)) is small for points of a class that are far apart for their neighborhoods: s_i is
// the distance from x_i to its seventh nearest point in the class. With A_ij = 1 these are the scatter matrices of Fisher's
// discriminant; with the local ones, a class may fall into parts, which the map need not bring together.
//
// The rows t of the map solve Sb t = v (Sw + eps I) t, for the largest v, with t'(Sw + eps I) t = 1, where eps is relative to the
// mean of the diagonal of Sw. They are used as they are (metric=plain), times the root of v, by which directions weigh as much as they
// separate classes (weighted; only v > 0 count), or made orthonormal, which leaves the space they span (orthonormalized).
package lfda

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/classes"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
)

// Method is the name of this method in the catalog and in model files.
const Method = "lfda"

// About says what the method is.
var About = algorithms.About{
	Name:            Method,
	Title:           "LFDA",
	Summary:         "local Fisher discriminant analysis, linear; learns from classes (--links-from-labels all)",
	Paper:           "Sugiyama, Dimensionality reduction of multimodal labeled data by local Fisher discriminant analysis, JMLR 8, 2007",
	Linear:          true,
	UsesCannotLinks: true,
	Baseline:        true,
}

// Metric says how the solutions of the eigenproblem make a map.
type Metric string

// The metrics.
const (
	Weighted        Metric = "weighted"
	Orthonormalized Metric = "orthonormalized"
	Plain           Metric = "plain"
)

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	Dims      int     `json:"dims" param:"dims" zero:"all" help:"directions that separate classes most"`
	Neighbors int     `json:"neighbors" param:"neighbors" default:"7" range:">= 1" help:"the neighbor in the class whose distance is the local scale; fewer in smaller classes"`
	Metric    Metric  `json:"metric" param:"metric" default:"weighted" choices:"weighted,orthonormalized,plain" help:"what the directions are scaled by"`
	EpsRel    float64 `json:"eps_rel" param:"eps_rel" default:"1e-3" range:"> 0" help:"regularization relative to the mean local variance within classes"`
	RankTol   float64 `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a principal direction counts as constant"`
}

// DefaultParams returns all directions, weighted.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error { return param.Validate(p) }

// Model is a fitted metric, a linear map. It is immutable and safe for concurrent use. Embed, Gram and
// Distances, as [algorithms.Model] has them, are exact and take 2 d Dim flops a point.
type Model = linear.Fitted[Params]

var (
	_ algorithms.Model     = (*Model)(nil)
	_ algorithms.Inputs    = (*Model)(nil)
	_ algorithms.Describer = (*Model)(nil)
)

// Decode rebuilds a model from its file. A tensor or a part of the header that cannot be used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) { return linear.DecodeFitted[Params](Method, f) }

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

// Method returns "lfda".
func (Learner) Method() string { return Method }

// Fit learns from n dense points of d features. The result has the type *[Model].
//
// Cost: n_c^2 q flops for each class of n_c points, and eigendecompositions of order q, the directions in which points vary.
//
// Errors: no must-links, no cannot-links, or none that tells classes apart; parameters that [Params.Validate] refuses, more dimensions
// than directions; other than dense vectors; points with NaN or Inf, or all equal; a request beyond the memory limit; ctx.Err(), wrapped.
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
	if err := input.Check(x, set); err != nil {
		return nil, err
	}
	if must, cannot := set.Count(); must == 0 || cannot == 0 {
		return nil, fault.Data("", "%s learns from classes that differ: want must-links and cannot-links, got %d and %d", Method, must, cannot)
	}
	l.Progress.Report(algorithms.Progress{Stage: "principal directions", Total: 2, Elapsed: time.Since(begin)})
	c := classes.New(set)
	p, err := linear.NewPrincipalOf(ctx, eng, dense, l.Params.RankTol, c.Rows)
	if err != nil {
		return nil, err
	}
	if q := p.Z.Cols; l.Params.Dims > q {
		return nil, &fault.ParamError{Param: "dims", Value: l.Params.Dims, Want: fmt.Sprintf("a number from 0 to %d, the directions in which the points vary", q)}
	}
	l.Progress.Report(algorithms.Progress{Stage: "local scatter", Done: 1, Total: 2, Elapsed: time.Since(begin)})
	within, between, pairs, err := scatters(ctx, eng, p.Z, c, local(l.Params.Neighbors))
	if err != nil {
		return nil, err
	}
	if pairs == 0 {
		return nil, fault.Data("", "cannot-links join points of one class only: want some between classes")
	}
	t, err := l.directions(ctx, eng, within, between)
	if err != nil {
		return nil, err
	}
	status := algorithms.Status{Converged: true, Elapsed: time.Since(begin)}
	return linear.NewFitted(p.Map(eng, Method, t), l.Params, status), ctx.Err()
}

// directions returns the matrix of the map in principal coordinates. It overwrites the scatter matrices.
func (l Learner) directions(ctx context.Context, eng *engine.Engine, within, between blas.Matrix) (blas.Matrix, error) {
	q := within.Rows
	if trace(within) == 0 {
		return within, fault.Data("", "the points of every class are equal, or have no neighbors: want classes that vary")
	}
	white, err := linear.Whiten(ctx, eng, within, l.Params.EpsRel, 0)
	if err != nil {
		return white, err
	}
	half, seen, v := blas.NewMatrix(q, q), blas.NewMatrix(q, q), make([]float64, q)
	eng.Backend().Gemm(false, false, 1, white, between, 0, half)
	eng.Backend().Gemm(false, true, 1, half, white, 0, seen)
	if err := eng.SymEig(ctx, seen, v, true); err != nil {
		return seen, err
	}
	const nothing = 1e-12
	turn := blas.NewMatrix(q, q)
	dims := 0
	for want := l.Params.Dims; dims < q && (want == 0 || dims < want); dims++ {
		scale, from := 1.0, q-1-dims
		if l.Params.Metric == Weighted {
			if scale = math.Sqrt(max(0, v[from])); !(v[from] > nothing*v[q-1]) {
				break
			}
		}
		eng.Backend().Kernels().Axpy(scale, seen.Row(from), turn.Row(dims))
	}
	if dims == 0 {
		return turn, fault.Data("", "no direction separates the classes more than their neighborhoods: want other links, or metric=plain")
	}
	out := blas.NewMatrix(dims, q)
	eng.Backend().Gemm(false, false, 1, turn.View(0, dims, 0, q), white, 0, out)
	if l.Params.Metric == Orthonormalized {
		return orthonormal(eng, out), nil
	}
	return out, nil
}

// orthonormal returns orthonormal rows: each is in the span of the rows of t up to it.
func orthonormal(eng *engine.Engine, t blas.Matrix) blas.Matrix {
	columns, l := transposed(t), blas.NewMatrix(t.Rows, t.Rows)
	eng.Backend().QR(columns, l)
	return transposed(columns)
}

func transposed(a blas.Matrix) blas.Matrix {
	out := blas.NewMatrix(a.Cols, a.Rows)
	for i := range a.Rows {
		for j, v := range a.Row(i) {
			out.Set(j, i, v)
		}
	}
	return out
}

func trace(a blas.Matrix) (sum float64) {
	for i := range a.Rows {
		sum += a.At(i, i)
	}
	return sum
}
