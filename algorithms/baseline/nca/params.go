package nca

import (
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/engine/fault"
)

// Method is the name of this method in the catalog and in model files.
const Method = "nca"

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	// Dims is the number of dimensions of the map, 0 for as many as there are directions.
	Dims int `json:"dims"`
	// Rank is the number of leading principal directions that the map is learned in, 0 for all.
	Rank int `json:"rank"`
	// RankTol is the variance, relative to the largest, up to which a principal direction counts as constant, 0 to 1.
	RankTol float64 `json:"rank_tol"`
	// Tol ends the ascent: what five iterations gain, relative to what the objective lacks to 1, > 0.
	Tol float64 `json:"tol"`
	// Contractions is how often the map is halved and the ascent goes on from there, which leaves local maxima; the best map
	// is kept. 0 or more.
	Contractions int `json:"contractions"`
	// MaxIter is the most iterations of an ascent, at least 1.
	MaxIter int `json:"max_iter"`
}

// DefaultParams returns a map of all directions.
func DefaultParams() Params { return Params{RankTol: 1e-10, Contractions: 3, Tol: 1e-3, MaxIter: 300} }

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	switch {
	case p.Dims < 0:
		return &fault.ParamError{Param: "dims", Value: p.Dims, Want: "an integer >= 0 (0: all directions)"}
	case p.Rank < 0:
		return &fault.ParamError{Param: "rank", Value: p.Rank, Want: "an integer >= 0 (0: all directions)"}
	case !(p.RankTol >= 0 && p.RankTol < 1):
		return &fault.ParamError{Param: "rank_tol", Value: p.RankTol, Want: "a number >= 0 and < 1"}
	case p.Contractions < 0:
		return &fault.ParamError{Param: "contractions", Value: p.Contractions, Want: "an integer >= 0"}
	case p.MaxIter < 1:
		return &fault.ParamError{Param: "max_iter", Value: p.MaxIter, Want: "an integer >= 1"}
	}
	return input.Positive("tol", p.Tol)
}
