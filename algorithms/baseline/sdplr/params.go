package sdplr

import (
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/engine/fault"
)

// Method is the name of this method in the catalog and in model files.
const Method = "sdplr"

// DefaultKernel is the kernel in whose feature space a Learner without one looks for neighbours.
const DefaultKernel = graphkernel.DefaultKernel

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	// Loss is "hl", "shl" or "sl".
	graphkernel.Settings
	// Rank is the number of columns of V, 0 for as many as the number of links asks for.
	Rank int `json:"rank"`
	// Tol is the largest difference, rooted mean square, of a slack from its residual that ends the fit, and
	// the length of the gradient relative to 1 + |V|, > 0.
	Tol float64 `json:"tol"`
	// MaxIter is the most steps, at least 1.
	MaxIter int `json:"max_iter"`
}

// DefaultParams returns the hinge on a graph of 5 neighbours.
func DefaultParams() Params {
	return Params{Settings: graphkernel.DefaultSettings(graphkernel.Hinge), Tol: 1e-5, MaxIter: 10000}
}

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	if err := p.CheckWith(graphkernel.Hinge, graphkernel.SquaredHinge, graphkernel.Square); err != nil {
		return err
	}
	switch {
	case p.Rank < 0:
		return &fault.ParamError{Param: "rank", Value: p.Rank, Want: "an integer >= 0 (0: as many as the links ask for)"}
	case p.MaxIter < 1:
		return &fault.ParamError{Param: "max_iter", Value: p.MaxIter, Want: "an integer >= 1"}
	}
	return input.Positive("tol", p.Tol)
}
