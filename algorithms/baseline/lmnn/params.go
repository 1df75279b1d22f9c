package lmnn

import (
	"math"

	"github.com/mustlink/mustlink/engine/fault"
)

// Method is the name of this method in the catalog and in model files.
const Method = "lmnn"

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	// Neighbors is the number of target neighbours of a point, at least 1; fewer in smaller
	// classes.
	Neighbors int `json:"neighbors"`
	// Mu is the weight of the impostors, in (0, 1); that of the targets is 1 - Mu.
	Mu float64 `json:"mu"`
	// Dims is the number of rows of the map, 0 for as many as directions are learned in.
	Dims int `json:"dims"`
	// Rank is the most principal directions of the data that are learned in: 0 for all, RankEighth for
	// an eighth of the linked points. With as many as points every class can be drawn together in one
	// place, which tells nothing of other points.
	Rank int `json:"rank"`
	// Tol ends the fit: the relative decrease of the objective over 5 iterations, > 0.
	Tol float64 `json:"tol"`
	// MaxIter is the most iterations, at least 1.
	MaxIter int `json:"max_iter"`
	// RankTol is the variance of a principal direction, relative to the largest, up to which it is
	// dropped as constant or collinear; 0 <= RankTol < 1.
	RankTol float64 `json:"rank_tol"`
}

// RankEighth as Params.Rank is an eighth of the linked points, rounded up.
const RankEighth = -1

// DefaultParams returns 3 target neighbours, equal weights and as many dimensions as the points carry.
func DefaultParams() Params {
	return Params{Neighbors: 3, Mu: 0.5, Rank: RankEighth, Tol: 1e-4, MaxIter: 300, RankTol: 1e-10}
}

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	switch {
	case p.Neighbors < 1:
		return &fault.ParamError{Param: "neighbors", Value: p.Neighbors, Want: "an integer >= 1"}
	case !(p.Mu > 0 && p.Mu < 1):
		return &fault.ParamError{Param: "mu", Value: p.Mu, Want: "a number between 0 and 1"}
	case p.Dims < 0:
		return &fault.ParamError{Param: "dims", Value: p.Dims, Want: "an integer >= 0 (0: all directions)"}
	case p.Rank < RankEighth:
		return &fault.ParamError{Param: "rank", Value: p.Rank, Want: "an integer >= 0 (0: all directions)"}
	case !(p.Tol > 0) || math.IsInf(p.Tol, 0):
		return &fault.ParamError{Param: "tol", Value: p.Tol, Want: "a finite number > 0"}
	case p.MaxIter < 1:
		return &fault.ParamError{Param: "max_iter", Value: p.MaxIter, Want: "an integer >= 1"}
	case !(p.RankTol >= 0 && p.RankTol < 1):
		return &fault.ParamError{Param: "rank_tol", Value: p.RankTol, Want: "a number from 0 up to, not including, 1"}
	}
	return nil
}
