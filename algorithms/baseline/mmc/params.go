package mmc

import (
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/engine/fault"
)

// Method is the name of this method in the catalog and in model files.
const Method = "mmc"

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	// Diagonal learns one weight a feature, in place of a matrix.
	Diagonal bool `json:"diagonal"`
	// EpsRel is eps in units of the mean diagonal of the must-links' scatter, >= 0. The default suits features of one scale;
	// where some are much larger than others, 1e-3 does not leave them as loud.
	EpsRel float64 `json:"eps_rel"`
	// RankTol is the variance, relative to the largest, up to which a principal direction counts as constant, 0 to 1.
	RankTol float64 `json:"rank_tol"`
	// Tol ends the search: how far the optimum is, at most, relative to the objective, > 0.
	Tol float64 `json:"tol"`
	// MaxIter is the most iterations, at least 1.
	MaxIter int `json:"max_iter"`
}

// DefaultParams returns a full matrix.
func DefaultParams() Params { return Params{EpsRel: 0.1, RankTol: 1e-10, Tol: 1e-4, MaxIter: 1000} }

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	switch {
	case !(p.EpsRel >= 0) || math.IsInf(p.EpsRel, 1):
		return &fault.ParamError{Param: "eps_rel", Value: p.EpsRel, Want: "a finite number >= 0"}
	case !(p.RankTol >= 0 && p.RankTol < 1):
		return &fault.ParamError{Param: "rank_tol", Value: p.RankTol, Want: "a number >= 0 and < 1"}
	case p.MaxIter < 1:
		return &fault.ParamError{Param: "max_iter", Value: p.MaxIter, Want: "an integer >= 1"}
	}
	return input.Positive("tol", p.Tol)
}
