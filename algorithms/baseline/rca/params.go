package rca

import (
	"math"

	"github.com/mustlink/mustlink/engine/fault"
)

// Method is the name of this method in the catalog and in model files.
const Method = "rca"

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	// EpsRel is the regularisation of the within-chunklet covariance relative to its mean
	// eigenvalue on the kept directions, > 0. Small values are the method as published.
	EpsRel float64 `json:"eps_rel"`
	// Dims is the number of leading discriminant directions to keep; 0 keeps all.
	Dims int `json:"dims"`
	// RankTol is the variance of a principal direction, relative to the largest, up to which
	// it is dropped as constant or collinear; 0 <= RankTol < 1.
	RankTol float64 `json:"rank_tol"`
}

// DefaultParams returns eps_rel = 1e-6, all dimensions and rank_tol = 1e-10.
func DefaultParams() Params { return Params{EpsRel: 1e-6, RankTol: 1e-10} }

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	switch {
	case !(p.EpsRel > 0) || math.IsInf(p.EpsRel, 0):
		return &fault.ParamError{Param: "eps_rel", Value: p.EpsRel, Want: "a finite number > 0"}
	case p.Dims < 0:
		return &fault.ParamError{Param: "dims", Value: p.Dims, Want: "an integer >= 0 (0: all directions)"}
	case !(p.RankTol >= 0 && p.RankTol < 1):
		return &fault.ParamError{Param: "rank_tol", Value: p.RankTol, Want: "a number from 0 up to, not including, 1"}
	}
	return nil
}
