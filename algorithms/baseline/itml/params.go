package itml

import (
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
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
	logdetmetric.Target
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
