// Package itml learns a metric from distances that must be small or large: information-theoretic
// metric learning (Davis, Kulis, Jain, Sra & Dhillon, "Information-theoretic metric learning", ICML
// 2007), with the step that is exact for every gamma. It is the base of package gml and a baseline
// of others.
//
// Of all positive definite A it is the one nearest to a prior, in the LogDet divergence, for which
// must-linked points are at most the squared distance upper apart and cannot-linked ones at least
// lower; both bounds may give way, at a price that gamma sets, times the link's weight. Without
// other orders upper and lower are percentiles of the squared distances of pairs of points under
// the prior.
//
// Linear mode: A is a matrix over the features, the prior the identity or the inverse covariance,
// in the directions in which the points vary. Kernel mode: the kernel matrix of the linked points
// is learned, K, from K0; with the signed multipliers P of the constraints, B = P - P K P, the
// learned kernel of any two points is
//
//	k(x, y) = k0(x, y) - k0(x, .)' B k0(., y)
//
// A model embeds points in the directions of the learned kernel matrix of the training points (up
// to 2000 of them, the linked ones included).
//
// # New links, new points
//
// A model keeps its links and their multipliers. [Model.AddLinks] goes on with more of them, at the
// bounds of the first fit, to the optimum of all. New points need nothing: Embed of the model
// places them out of sample, and the metric stays.
package itml

import (
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/algorithms/internal/maps"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
)

// Method is the name of this method in the catalog and in model files.
const Method = "itml"

// Prior is the metric to stay near to.
type Prior string

// The priors.
const (
	Identity   Prior = "identity"
	Covariance Prior = "covariance" // its inverse; linear mode only
)

// About says what the method is.
var About = algorithms.About{
	Name:            Method,
	Title:           "ITML",
	Summary:         "information-theoretic metric learning, linear or with a kernel (-k): the base of geometry-aware metrics",
	Paper:           "Davis, Kulis, Jain, Sra & Dhillon, Information-theoretic metric learning, ICML 2007",
	UsesCannotLinks: true,
	Pairwise:        true,
	Baseline:        true,
}

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	Prior Prior   `json:"prior" param:"prior" default:"identity" choices:"identity,covariance (its inverse; not with a kernel)" help:"metric to stay near to"`
	Gamma float64 `json:"gamma" param:"gamma" default:"1" range:"> 0" help:"weight of the links against the prior (0.1 to 10 are usual)"`
	// Upper and Lower are in units of the prior. A link's own bound comes first.
	logdetmetric.BoundRules
	Dims int `json:"dims" param:"dims" zero:"all" help:"columns of the embedding"`
	// Tol is compared with the largest change of a multiplier times its distance.
	Tol     float64 `json:"tol" param:"tol" default:"0.001" range:"> 0" help:"change in a sweep that ends the fit"`
	MaxIter int     `json:"max_iter" param:"max_iter" default:"1000" range:">= 1" help:"most sweeps over the links"`
}

// DefaultParams returns the usual ones: gamma = 1, the 5th and the 95th percentile.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	if err := param.Validate(p); err != nil {
		return err
	}
	return p.Check()
}

// Model is a fitted metric. It is immutable and safe for concurrent use. Embed, Gram and Distances,
// as [algorithms.Model] has them, take 2 d Dim flops a point in linear mode, else its kernel values
// with the stored points, the linked ones and up to 2000 of the fit, and 2 Dim flops for each of
// these.
type Model struct {
	*record.Model[Params]
	about about
	warm  *logdetmetric.WarmStart // nil from a file that does not hold it
}

var _ algorithms.Linker = (*Model)(nil)

// about is what the header holds besides parameters, kernel and what has been learned from.
type about struct {
	logdetmetric.Bounds
	Residual float64 `json:"kkt"`
	Skipped  int     `json:"skipped"`
}

// Residual returns the largest residual of the conditions of the optimum.
func (m *Model) Residual() float64 { return m.about.Residual }

// Describe returns the figures of the model.
func (m *Model) Describe() []algorithms.Statistic {
	return append(m.Model.Describe(),
		algorithms.Statistic{Name: "bound of must-links", Value: m.about.Upper},
		algorithms.Statistic{Name: "bound of cannot-links", Value: m.about.Lower},
		algorithms.Statistic{Name: "residual of the optimum's conditions", Value: m.about.Residual},
		algorithms.Statistic{Name: "links between points in one place", Value: m.about.Skipped})
}

// Encode stores the model in f.
func (m *Model) Encode(f *model.File) error {
	return m.EncodeWith(f, m.about, m.warm.Encode(f, Method))
}

// Decode rebuilds the model that [Model.Encode] stored. A tensor or a part of the header that
// cannot be used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m := &Model{}
	var err error
	if m.Model, err = record.Decode[Params](Method, f, maps.ReadEither, &m.about); err != nil {
		return nil, err
	}
	m.warm, err = logdetmetric.DecodeWarmStart(f, Method)
	return m, err
}
