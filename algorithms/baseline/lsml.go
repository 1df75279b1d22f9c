package baseline

import (
	"cmp"
	"context"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/sampling"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// LSMLAbout describes the method.
var LSMLAbout = algorithms.About{
	Name:    LSMLMethod,
	Title:   "LSML",
	Summary: "least squared-residual metric learning from relative comparisons, linear",
	Paper: "Liu, Guo, Sun, Wu & Zhang, Metric learning from relative comparisons by minimizing " +
		"squared residual, ICDM 2012",
	Linear:          true,
	UsesCannotLinks: true,
	UsesTriplets:    true,
	UsesQuadruplets: true,
	Pairwise:        true,
	Baseline:        true,
}

// LSMLPrior is the metric that the learned one stays close to.
type LSMLPrior string

// The priors.
const (
	LSMLIdentity   LSMLPrior = "identity"   // divided by the mean variance of a direction
	LSMLCovariance LSMLPrior = "covariance" // the inverse covariance
)

// LSML learns a linear metric from relative comparisons: least
// squared-residual metric learning (Liu, Guo, Sun, Wu & Zhang, "Metric learning from relative
// comparisons by minimizing squared residual", ICDM 2012). A baseline.
//
// A comparison states that rows a and b are nearer to each other than rows c and d. Let d_M be the
// distance, not squared, of the metric of the positive definite matrix M. A comparison costs the
// square of its violation, and the objective is
//
//	F(M) = gamma mean_k w_k max(0, d_M(a_k, b_k) - d_M(c_k, d_k))^2
//	       + tr(M M0^-1) - log det(M M0^-1) - q
//
// over all M of order q, the number of directions in which the points vary; the last terms are the
// LogDet divergence from a prior M0. The prior is the identity divided by the mean variance of a
// direction, or the inverse covariance, so that the unit of the points does not matter. If all
// comparisons hold in the prior, M = M0.
//
// The problem is strictly convex. It is minimized by limited-memory BFGS over the factor of M. F
// falls in every iteration, and each stationary point is the minimum. The fit ends when F is
// provably within the tolerance of its minimum: logdet.Compare has the proofs.
//
// Without comparisons, the links are turned into comparisons: each must-link must be shorter than
// each cannot-link, with the product of their weights. If there are more such pairs than the limit,
// pairs are drawn at random.
//
// The fields are the parameters of the method. [LSMLDefaults] returns the defaults.
type LSML struct {
	Prior       LSMLPrior `json:"prior" param:"prior" default:"identity" choices:"identity (over the mean variance),covariance (its inverse)" help:"metric that the learned one stays close to"`
	Gamma       float64   `json:"gamma" param:"gamma" default:"1000" range:"> 0" help:"total weight of the comparisons relative to the prior"`
	Comparisons int       `json:"comparisons" param:"comparisons" default:"10000" range:">= 1" help:"maximum number of comparisons of must-links with cannot-links; drawn at random if there are more"`
	Dims        int       `json:"dims" param:"dims" zero:"all" help:"columns of the embedding"`
	Tol         float64   `json:"tol" param:"tol" default:"1e-06" range:"> 0" help:"the fit stops when the objective is within this of its minimum"`
	MaxIter     int       `json:"max_iter" param:"max_iter" default:"1000" range:">= 1" help:"maximum number of iterations"`
}

// LSMLDefaults returns the usual values.
func LSMLDefaults() LSML { return param.Default[LSML]() }

// LSMLModel is a fitted metric, a linear map. The objective is F.
type LSMLModel = fitted.Traced[LSML]

// LSMLLearner learns from n dense points of d features, the comparisons of its lesson, and the
// comparisons of the links. The zero value does not work: Params come from [LSMLDefaults]. The
// result has the type *[LSMLModel].
//
// Cost of an iteration for m compared points, k comparisons and q directions: 4 m q^2 + 8 k q + 3
// q^3 flops.
//
// Errors are those of [learner.Learner.Fit]. No comparisons and no links of both kinds, and
// comparisons of rows that do not exist, are errors, too.
type LSMLLearner = learner.Learner[LSML]

// Rules describes the method and the input that it requires.
func (LSML) Rules() learner.Rules { return learner.Rules{About: LSMLAbout, Pairs: true} }

// Learn finds the metric whose distances agree with the comparisons.
func (p LSML) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	list, err := p.comparisons(f)
	if err != nil {
		return nil, err
	}
	pc, err := linear.NewPrincipal(ctx, f.Eng, f.Dense, linear.Constant)
	if err != nil {
		return nil, err
	}
	units := pc.Units() // in these units the prior is the identity
	if p.Prior == LSMLCovariance {
		units = pc.StandardDeviations()
	}
	z := pc.Z.Clone()
	linear.DivideColumns(z, units)
	found, err := logdet.Compare(ctx, f.Eng, z, list,
		logdet.CompareOptions{Tolerance: p.Tol, MaxIter: p.MaxIter,
			Progress: f.Bounded("descent", p.MaxIter)})
	if err != nil {
		return nil, err
	}
	axes, err := linear.Axes(ctx, f.Eng, found.A, p.Dims)
	if err != nil {
		return nil, err
	}
	linear.DivideColumns(axes, units)
	status := f.Status(fitted.Bounded(found.Trace, found.Converged, found.Bound))
	return fitted.NewTraced(pc.Map(f.Eng, LSMLMethod, axes), p, status, found.Trace), nil
}

// comparisons returns the comparisons of the lesson and of the links; their mean weight is gamma
// divided by their number.
func (p LSML) comparisons(f *learner.Fit) ([]logdet.Comparison, error) {
	given := slices.Clone(f.Quadruplets)
	for _, t := range f.Triplets {
		given = append(given, t.Quadruplet())
	}
	n := f.Links.N()
	err := cmp.Or(links.CheckQuadruplets(n, f.Quadruplets), links.CheckTriplets(n, f.Triplets))
	if err != nil {
		return nil, err
	}
	var out []logdet.Comparison
	for _, q := range given {
		out = append(out, logdet.Comparison{I: q.I, J: q.J, K: q.K, L: q.L, Weight: 1})
	}
	must, cannot := f.Links.Must(), f.Links.Cannot()
	for _, k := range sampling.Some(len(must)*len(cannot), p.Comparisons, f.Seed) {
		m, c := must[k/len(cannot)], cannot[k%len(cannot)]
		out = append(out, logdet.Comparison{I: m.I, J: m.J, K: c.I, L: c.J, Weight: m.Weight * c.Weight})
	}
	if len(out) == 0 {
		return nil, fault.Data("",
			"%s learns from comparisons: want must-links and cannot-links, got %d and %d, or quadruplets "+
				"or triplets", LSMLMethod, len(must), len(cannot))
	}
	total := 0.0
	for _, c := range out {
		total += c.Weight
	}
	for k := range out {
		out[k].Weight *= p.Gamma / total
	}
	return out, nil
}
