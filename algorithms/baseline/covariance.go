package baseline

import (
	"context"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/param"
)

// CovarianceAbout describes the method.
var CovarianceAbout = algorithms.About{
	Name:    CovarianceMethod,
	Title:   "Covariance",
	Summary: "Mahalanobis distance of the points, linear; ignores links: the baseline of linear methods",
	Paper: "Mahalanobis, On the generalized distance in statistics, Proceedings of the National " +
		"Institute of Sciences of India 2, 1936",
	Linear:        true,
	Baseline:      true,
	LinksOptional: true,
}

// Covariance is the Mahalanobis distance of the points: the
// linear metric in which all directions have the same variance, computed without links
// (Mahalanobis, "On the generalized distance in statistics", 1936). A baseline of every linear
// method.
//
// With the principal directions u_r of the points and their variances v_r,
//
//	y_r = u_r' (x - mean) / sqrt(v_r)
//
// so that squared distances are (x - y)' S^+ (x - y) for the covariance S of the points. Directions
// with a variance up to rank_tol times the largest are dropped.
//
// The fields are the parameters of the method. [CovarianceDefaults] returns the defaults.
type Covariance struct {
	Dims    int     `json:"dims" param:"dims" zero:"all" help:"number of directions, those of largest variance"`
	RankTol float64 `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a principal direction counts as constant"`
}

// CovarianceDefaults returns all directions with nonzero variance.
func CovarianceDefaults() Covariance { return param.Default[Covariance]() }

// CovarianceModel is a fitted metric, a linear map.
type CovarianceModel = fitted.Model[Covariance]

// CovarianceLearner learns from n dense points of d features and ignores links. The result has the
// type *[CovarianceModel]. Cost: the eigendecomposition of a matrix of order min(n, d), and 4 n d
// min(n, d) flops.
type CovarianceLearner = learner.Learner[Covariance]

// Rules returns what the method requires of its input.
func (Covariance) Rules() learner.Rules { return learner.Rules{About: CovarianceAbout} }

// Learn fits the method.
func (p Covariance) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	f.Report(algorithms.Progress{Stage: "principal directions", Total: 1})
	pc, err := linear.NewPrincipal(ctx, f.Eng, f.Dense, p.RankTol)
	if err != nil {
		return nil, err
	}
	if p.Dims > 0 {
		pc.Keep(p.Dims)
	}
	roots := pc.StandardDeviations()
	scale := blas.NewMatrix(len(roots), len(roots))
	for r, root := range roots {
		scale.Set(r, r, 1/root)
	}
	return fitted.New(pc.Map(f.Eng, CovarianceMethod, scale), p, f.Direct()), nil
}
