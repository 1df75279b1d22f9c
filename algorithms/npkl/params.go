package npkl

import (
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/engine/fault"
)

// Method is the name of this method in the catalog and in model files.
const Method = "npkl"

// Loss says how a link that is not met is charged.
type Loss = graphkernel.Loss

// The losses at f = t Z_ij.
const (
	Square       = graphkernel.Square       // (1-f)^2
	SquaredHinge = graphkernel.SquaredHinge // max(0, 1-f)^2
	Hinge        = graphkernel.Hinge        // 2 max(0, 1-f)
)

// Neighbourhood says how the graph of the points is made: Graph, Neighbors, Radius and Heat. The paper has
// 10 neighbours for the width of dense graphs.
type Neighbourhood = graphkernel.Neighbourhood

// The graphs.
const (
	KNN    = graphkernel.KNN    // the nearest neighbours of each, either way
	Dense  = graphkernel.Dense  // all, by exp(-d^2 / (2 sigma^2))
	Within = graphkernel.Within // those up to a distance
	Given  = graphkernel.Given  // the similarities that the Learner is given
)

// Plan says which rows the sweeps go through. The optimum is the same.
type Plan string

// The plans.
const (
	Cheapest Plan = "auto"    // the one of fewer operations
	Whole    Plan = "full"    // all points
	Boundary Plan = "reduced" // the points with links, after the elimination of all others
)

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	Loss Loss `json:"loss"`
	// C is the weight of the links, > 0.
	C float64 `json:"C"`
	// Delta is added to the diagonal of the normalised Laplacian, > 0; the paper has C/2.
	Delta float64 `json:"delta"`
	// Rank is the number of dimensions, 0 for as many as the optimum wants.
	Rank int `json:"rank"`
	Neighbourhood
	Plan Plan `json:"plan"`
	// Plain leaves out the extrapolation of sweeps: these are the paper's.
	Plain bool `json:"plain,omitempty"`
	// Tol ends the sweeps: the relative change of V in one, or the root of that of the objective, > 0.
	Tol float64 `json:"tol"`
	// MaxIter is the most sweeps, at least 1.
	MaxIter int `json:"max_iter"`
}

// DefaultParams returns the square loss on a graph of 5 neighbours, with adaptive rank.
func DefaultParams() Params {
	return Params{Loss: Square, C: 1, Delta: 0.2, Neighbourhood: Neighbourhood{Graph: KNN, Neighbors: 5}, Plan: Cheapest, Tol: 1e-5, MaxIter: 2000}
}

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	if err := p.Loss.Check(); err != nil {
		return err
	}
	if err := p.Check(math.MaxInt); err != nil {
		return err
	}
	for _, v := range []struct {
		name  string
		value float64
	}{{"C", p.C}, {"delta", p.Delta}, {"tol", p.Tol}} {
		if err := input.Positive(v.name, v.value); err != nil {
			return err
		}
	}
	switch {
	case p.Rank < 0:
		return &fault.ParamError{Param: "rank", Value: p.Rank, Want: "an integer >= 0 (0: as many as the optimum wants)"}
	case p.Plan != Cheapest && p.Plan != Whole && p.Plan != Boundary:
		return fault.Unknown("plan", string(p.Plan), []string{string(Cheapest), string(Whole), string(Boundary)})
	case p.MaxIter < 1:
		return &fault.ParamError{Param: "max_iter", Value: p.MaxIter, Want: "an integer >= 1"}
	}
	return nil
}
