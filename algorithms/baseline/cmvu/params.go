package cmvu

import (
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/engine/fault"
)

// Method is the name of this method in the catalog and in model files.
const Method = "cmvu"

// DefaultKernel is the kernel in whose feature space a Learner without one takes distances.
const DefaultKernel = graphkernel.DefaultKernel

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	// Neighbourhood is the graph: "knn", "eps" or "given". Heat weighs edges by their lengths.
	graphkernel.Neighbourhood
	// Rank is the number of eigenvectors, 0 for a tenth of the points, at most 20.
	Rank int `json:"rank"`
	// Penalty is nu in units of what the second term gains at most at a mean distance of 1, > 0: distances grow by about 1
	// / (2 penalty).
	Penalty float64 `json:"penalty"`
	// Dims is the number of columns of Embed, those of largest variance, 0 for all.
	Dims int `json:"dims"`
	// Tol ends the search: the residual of the conditions of the optimum, relative to that gain and nu, > 0.
	Tol float64 `json:"tol"`
	// MaxIter is the most steps, at least 1.
	MaxIter int `json:"max_iter"`
}

// DefaultParams returns a graph of 10 neighbours and a penalty of 10.
func DefaultParams() Params {
	return Params{Neighbourhood: graphkernel.Neighbourhood{Graph: graphkernel.KNN, Neighbors: 10}, Penalty: 10, Tol: 1e-5, MaxIter: 2000}
}

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	if err := p.Check(math.MaxInt); err != nil {
		return err
	}
	switch {
	case p.Graph == graphkernel.Dense:
		return &fault.ParamError{Param: "graph", Value: string(p.Graph), Want: "knn, eps:R or @FILE"}
	case p.Rank < 0:
		return &fault.ParamError{Param: "rank", Value: p.Rank, Want: "an integer >= 0 (0: a tenth of the points, at most 20)"}
	case p.Dims < 0:
		return &fault.ParamError{Param: "dims", Value: p.Dims, Want: "an integer >= 0 (0: all directions)"}
	case p.MaxIter < 1:
		return &fault.ParamError{Param: "max_iter", Value: p.MaxIter, Want: "an integer >= 1"}
	}
	if err := input.Positive("penalty", p.Penalty); err != nil {
		return err
	}
	return input.Positive("tol", p.Tol)
}
