// Package itml learns a metric from bounds on distances: information-theoretic metric learning
// (Davis, Kulis, Jain, Sra & Dhillon, "Information-theoretic metric learning", ICML 2007), with a
// step that is exact for every gamma. It is the base of package gml and a baseline of other
// methods.
//
// The metric is the positive definite A nearest to a prior, in the LogDet divergence, for which the
// squared distance of must-linked points is at most upper and that of cannot-linked points at least
// lower. Both bounds may be violated at a cost of gamma times the link's weight. By default upper
// and lower are percentiles of the squared distances above 0 of pairs of points under the prior.
//
// In linear mode, A is a matrix over the features. The prior is the identity or the inverse
// covariance, in the directions in which the points vary. In kernel mode, the kernel matrix K of
// the linked points is learned from K0; with the signed multipliers P of the constraints and B = P
// - P K P, the learned kernel of any two points is
//
//	k(x, y) = k0(x, y) - k0(x, .)' B k0(., y)
//
// The optimum is found by cyclic projections, one link after the other. If some sweeps do not reach
// it, Newton's method for the multipliers of all links does (solvers/logdet).
//
// Gram and Distances of a model compute this kernel. Embed projects points on the directions of the
// learned kernel matrix of the training points (at most 2000 of them, including the linked ones).
//
// # Adding links and points
//
// A model stores its links and their multipliers. [Model.AddLinks] starts from them and finds the
// optimum for all links, at the bounds of the first fit. New points require no new fit: Embed of
// the model computes their coordinates, and the metric does not change.
package itml

import (
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
)

// Method is the name of this method in the catalog and in model files.
const Method = "itml"

// Prior is the metric that the learned one stays close to.
type Prior string

// The priors.
const (
	Identity   Prior = "identity"
	Covariance Prior = "covariance" // the inverse covariance; linear mode only
)

// About describes the method.
var About = algorithms.About{
	Name:  Method,
	Title: "ITML",
	Summary: "information-theoretic metric learning, linear or with a kernel (-k): the base of " +
		"geometry-aware metrics",
	Paper:           "Davis, Kulis, Jain, Sra & Dhillon, Information-theoretic metric learning, ICML 2007",
	UsesCannotLinks: true,
	UsesTriplets:    true,
	Pairwise:        true,
	Baseline:        true,
}

// Params are the parameters of the method. [DefaultParams] returns the defaults.
type Params struct {
	Prior Prior   `json:"prior" param:"prior" default:"identity" choices:"identity,covariance (its inverse; not with a kernel)" help:"metric that the learned one stays close to"`
	Gamma float64 `json:"gamma" param:"gamma" default:"1" range:"> 0" help:"weight of the links relative to the prior (usually 0.1 to 10)"`
	// Upper and Lower are in units of the prior. A link's own bound takes precedence.
	logdetmetric.BoundRules
	// Landmarks are for fits with a kernel.
	logdetmetric.LandmarkRule
	Dims int `json:"dims" param:"dims" zero:"all" help:"columns of the embedding"`
	// Tol is compared with the largest change of a multiplier times its distance, and with the
	// duality gap relative to the objective.
	Tol     float64 `json:"tol" param:"tol" default:"0.001" range:"> 0" help:"relative duality gap, and change of a sweep, at which the fit stops"`
	MaxIter int     `json:"max_iter" param:"max_iter" default:"1000" range:">= 1" help:"maximum number of sweeps over the links and of Newton steps"`
}

// DefaultParams returns the usual values: gamma = 1, and the 5th and 95th percentiles as bounds.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first invalid value.
func (p Params) Validate() error {
	if err := param.Validate(p); err != nil {
		return err
	}
	return p.Check()
}

// Model is a fitted metric. It is immutable and safe for concurrent use. Embed, Gram and Distances,
// documented at [algorithms.Model], cost 2 d Dim flops per point in linear mode. In kernel mode
// Embed costs the point's kernel values with the stored points, which are the linked ones and at
// most 2000 of the fit, and 2 Dim flops for each of these. Gram and Distances cost those with the l
// linked points and 4 l^2 flops.
type Model struct {
	*fitted.Model[Params]
	about about
	warm  *logdetmetric.WarmStart // nil if read from a file without it
}

var _ algorithms.Linker = (*Model)(nil)

// about is what the header has in addition to parameters, kernel and constraints.
type about = logdetmetric.Outcome

// Residual returns the largest residual of the optimality conditions.
func (m *Model) Residual() float64 { return m.about.Residual }

// Describe returns the statistics of the model.
func (m *Model) Describe() []algorithms.Statistic {
	return append(append(m.Model.Describe(), m.about.Describe()...), m.Held()...)
}

// Encode stores the model in f.
func (m *Model) Encode(f *model.File) error {
	return m.EncodeWith(f, m.about, m.warm.Encode(f, Method))
}

// Decode rebuilds the model that [Model.Encode] stored. An invalid tensor or header is a
// *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m := &Model{}
	var err error
	if m.Model, err = fitted.Decode[Params](Method, f, fitted.ReadEither, &m.about); err != nil {
		return nil, err
	}
	m.warm, err = logdetmetric.DecodeWarmStart(f, Method)
	return m, err
}
