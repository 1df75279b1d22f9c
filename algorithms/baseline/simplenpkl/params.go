package simplenpkl

import (
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/engine/fault"
)

// Method is the name of this method in the catalog and in model files.
const Method = "simplenpkl"

// DefaultKernel is the kernel in whose feature space a Learner without one looks for neighbours.
const DefaultKernel = graphkernel.DefaultKernel

// The losses.
const (
	Linear       graphkernel.Loss = "linear" // -f
	SquaredHinge                  = graphkernel.SquaredHinge
)

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	// Loss is "linear" or "shl".
	graphkernel.Settings
	// Size bounds the Frobenius norm of the kernel matrix: it is at most Size n, > 0.
	Size float64 `json:"size"`
	// Rank is the most eigenvectors, 0 for as many as the number of links asks for.
	Rank int `json:"rank"`
	// Tol is the gap between primal and dual objective that ends the ascent, relative to the first, > 0.
	Tol float64 `json:"tol"`
	// MaxIter is the most eigendecompositions, at least 1.
	MaxIter int `json:"max_iter"`
}

// DefaultParams returns the squared hinge on a graph of 5 neighbours.
func DefaultParams() Params {
	return Params{Settings: graphkernel.DefaultSettings(SquaredHinge), Size: 0.1, Tol: 1e-3, MaxIter: 500}
}

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	if err := p.CheckWith(Linear, SquaredHinge); err != nil {
		return err
	}
	if err := input.Positive("size", p.Size); err != nil {
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
