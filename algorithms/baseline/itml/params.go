package itml

import (
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/engine/fault"
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

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	Prior Prior `json:"prior"`
	// Gamma weighs the bounds against the prior, > 0; 0.1 to 10 are usual.
	Gamma float64 `json:"gamma"`
	// Upper and Lower are the bounds of squared distances, in units of the prior. A link's own bound comes
	// first.
	logdetmetric.Target
	// Dims is the number of columns of Embed, 0 for all.
	Dims int `json:"dims"`
	// Tol ends the sweeps over the links: the largest change of a multiplier times its distance, > 0.
	Tol float64 `json:"tol"`
	// MaxIter is the most sweeps, at least 1.
	MaxIter int `json:"max_iter"`
}

// DefaultParams returns the usual ones: gamma = 1, the 5th and the 95th percentile.
func DefaultParams() Params {
	return Params{Prior: Identity, Gamma: 1, Target: logdetmetric.DefaultTarget(), Tol: 1e-3, MaxIter: 1000}
}

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	if err := p.Check(); err != nil {
		return err
	}
	switch {
	case p.Prior != Identity && p.Prior != Covariance:
		return fault.Unknown("prior", string(p.Prior), []string{string(Identity), string(Covariance)})
	case p.Dims < 0:
		return &fault.ParamError{Param: "dims", Value: p.Dims, Want: "an integer >= 0 (0: all directions)"}
	case p.MaxIter < 1:
		return &fault.ParamError{Param: "max_iter", Value: p.MaxIter, Want: "an integer >= 1"}
	}
	if err := input.Positive("gamma", p.Gamma); err != nil {
		return err
	}
	return input.Positive("tol", p.Tol)
}
