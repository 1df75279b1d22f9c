// Package lsml (engine room: may change) learns a linear metric from relative comparisons: least
// squared-residual metric learning (Liu, Guo, Sun, Wu & Zhang, "Metric learning from relative
// comparisons by minimizing squared residual", ICDM 2012). A baseline.
//
// A comparison says that rows a and b are nearer to each other than rows c and d. With d_M the
// distance, not squared, of the metric of the positive definite matrix M, it costs the square of
// what it is violated by. Minimized is
//
//	F(M) = gamma mean_k w_k max(0, d_M(a_k, b_k) - d_M(c_k, d_k))^2 + tr(M M0^-1) - log det(M M0^-1) - q
//
// over all M of order q, the directions in which the points vary; the last terms are the LogDet
// divergence from a prior M0. The prior is the identity over the mean variance of a direction, or
// the inverse covariance, so that the unit of the points does not matter. With comparisons that all
// hold in the prior, M = M0.
//
// The problem is strictly convex. It is minimized by limited memory BFGS over the factor of M, in
// which F falls in every iteration and each stationary point is the minimum; the fit ends where F
// is provably within the tolerance of its minimum: logdet.Compare has the proofs.
//
// Links without comparisons become comparisons: each must-link is to be shorter than each
// cannot-link, with the product of their weights; of more than a number of such pairs of links, as
// many are drawn.
package lsml

import (
	"cmp"
	"context"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/draw"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// About says what the method is.
var About = algorithms.About{
	Name:            Method,
	Title:           "LSML",
	Summary:         "least squared-residual metric learning from relative comparisons, linear",
	Paper:           "Liu, Guo, Sun, Wu & Zhang, Metric learning from relative comparisons by minimizing squared residual, ICDM 2012",
	Linear:          true,
	UsesCannotLinks: true,
	Pairwise:        true,
	Baseline:        true,
}

// Method is the name of this method in the catalog and in model files.
const Method = "lsml"

// Prior is the metric to stay near to.
type Prior string

// The priors.
const (
	Identity   Prior = "identity"   // over the mean variance of a direction
	Covariance Prior = "covariance" // its inverse
)

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	Prior       Prior   `json:"prior" param:"prior" default:"identity" choices:"identity (over the mean variance),covariance (its inverse)" help:"metric to stay near to"`
	Gamma       float64 `json:"gamma" param:"gamma" default:"1000" range:"> 0" help:"weight of the comparisons, all together, against the prior"`
	Comparisons int     `json:"comparisons" param:"comparisons" default:"10000" range:">= 1" help:"most comparisons of must-links with cannot-links; of more, as many are drawn"`
	Dims        int     `json:"dims" param:"dims" zero:"all" help:"columns of the embedding"`
	Tol         float64 `json:"tol" param:"tol" default:"1e-06" range:"> 0" help:"distance of the objective from its minimum that ends the fit"`
	MaxIter     int     `json:"max_iter" param:"max_iter" default:"1000" range:">= 1" help:"most iterations"`
}

// DefaultParams returns the usual ones.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error { return param.Validate(p) }

// Model is a fitted metric, a linear map. The objective is F.
type Model = record.Traced[Params]

// Decode rebuilds a model from its file. A tensor or a part of the header that cannot be used is a
// *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	return record.DecodeTraced[Params](Method, f, maps.ReadLinear)
}

// Learner fits the method. The zero value does not work: Params come from [DefaultParams].
type Learner struct {
	Params Params
	// Quadruplets and Triplets are learned from, and so are the links.
	Quadruplets []links.Quadruplet
	Triplets    []links.Triplet
	Seed        uint64
	Progress    algorithms.ProgressFunc
}

var (
	_ algorithms.Quadruplets = Learner{}
	_ algorithms.Triplets    = Learner{}
)

// New returns the learner.
func New(p Params, c algorithms.Common) algorithms.Learner {
	return Learner{Params: p, Seed: c.Seed, Progress: c.Progress}
}

// Method returns "lsml".
func (Learner) Method() string { return Method }

// WithQuadruplets returns the learner that learns from these, too.
func (l Learner) WithQuadruplets(list []links.Quadruplet) algorithms.Learner {
	l.Quadruplets = list
	return l
}

// WithTriplets returns the learner that learns from the comparisons that these make, too.
func (l Learner) WithTriplets(list []links.Triplet) algorithms.Learner {
	l.Triplets = list
	return l
}

// Fit learns from n dense points of d features, the comparisons of the learner, and those that the
// links make. The result has the type *[Model].
//
// Cost of an iteration for m compared points, k comparisons and q directions: 4 m q^2 + 8 k q + 3
// q^3 flops.
//
// Errors are those of [learner.Learner.Fit], and neither comparisons nor links of both kinds, and
// comparisons of rows that do not exist.
func (l Learner) Fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	rules, common := learner.Rules{About: About, Pairs: true}, algorithms.Common{Seed: l.Seed, Progress: l.Progress}
	f := learner.Begin(rules, common, eng, x, set)
	return f.Run(ctx, l.Params, func() (algorithms.Model, error) { return l.learn(ctx, f) })
}

func (l Learner) learn(ctx context.Context, f *learner.Fit) (*Model, error) {
	list, err := l.comparisons(f.Links)
	if err != nil {
		return nil, err
	}
	pc, err := linear.NewPrincipal(ctx, f.Eng, f.Dense, linear.Constant)
	if err != nil {
		return nil, err
	}
	units := pc.Units() // in which the prior is the identity
	if l.Params.Prior == Covariance {
		units = pc.StandardDeviations()
	}
	z := pc.Z.Clone()
	linear.DivideColumns(z, units)
	found, err := logdet.Compare(ctx, f.Eng, z, list, logdet.CompareOptions{Tolerance: l.Params.Tol, MaxIter: l.Params.MaxIter, Progress: f.Bounded("descent", l.Params.MaxIter)})
	if err != nil {
		return nil, err
	}
	axes, err := linear.Axes(ctx, f.Eng, found.A, l.Params.Dims)
	if err != nil {
		return nil, err
	}
	linear.DivideColumns(axes, units)
	status := f.Status(record.Bounded(found.Trace, found.Converged, found.Bound))
	return record.NewTraced(pc.Map(f.Eng, Method, axes), l.Params, status, found.Trace), nil
}

// comparisons returns those of the learner and of the links, whose mean weight is gamma over their
// number.
func (l Learner) comparisons(set *links.Set) ([]logdet.Comparison, error) {
	given := slices.Clone(l.Quadruplets)
	for _, t := range l.Triplets {
		given = append(given, t.Quadruplet())
	}
	err := cmp.Or(links.CheckQuadruplets(set.N(), l.Quadruplets), links.CheckTriplets(set.N(), l.Triplets))
	if err != nil {
		return nil, err
	}
	var out []logdet.Comparison
	for _, q := range given {
		out = append(out, logdet.Comparison{I: q.I, J: q.J, K: q.K, L: q.L, Weight: 1})
	}
	must, cannot := set.Must(), set.Cannot()
	for _, k := range draw.Some(len(must)*len(cannot), l.Params.Comparisons, l.Seed) {
		m, c := must[k/len(cannot)], cannot[k%len(cannot)]
		out = append(out, logdet.Comparison{I: m.I, J: m.J, K: c.I, L: c.J, Weight: m.Weight * c.Weight})
	}
	if len(out) == 0 {
		return nil, fault.Data("", "%s learns from comparisons: want must-links and cannot-links, got %d and %d, or quadruplets or triplets", Method, len(must), len(cannot))
	}
	total := 0.0
	for _, c := range out {
		total += c.Weight
	}
	for k := range out {
		out[k].Weight *= l.Params.Gamma / total
	}
	return out, nil
}
