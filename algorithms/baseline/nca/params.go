package nca

import (
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/param"
)

// Method is the name of this method in the catalog and in model files.
const Method = "nca"

// About says what the method is.
var About = algorithms.About{
	Name:            Method,
	Title:           "NCA",
	Summary:         "neighborhood components analysis, linear: leave-one-out classification in expectation",
	Paper:           "Goldberger, Roweis, Hinton & Salakhutdinov, Neighbourhood components analysis, NIPS 17, 2005",
	Linear:          true,
	UsesCannotLinks: true,
	Baseline:        true,
}

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	Dims    int     `json:"dims" param:"dims" zero:"as many as there are directions" help:"dimensions of the map"`
	Rank    int     `json:"rank" param:"rank" zero:"all" help:"leading principal directions to learn in"`
	RankTol float64 `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a principal direction counts as constant"`
	Tol     float64 `json:"tol" param:"tol" default:"0.001" range:"> 0" help:"gain of five iterations that ends the ascent, relative to how far the objective is from 1"`
	// Contractions lead away from local maxima; the best map is kept.
	Contractions int `json:"contractions" param:"contractions" default:"3" range:">= 0" help:"how often the map is halved and the ascent goes on"`
	MaxIter      int `json:"max_iter" param:"max_iter" default:"300" range:">= 1" help:"most iterations of an ascent"`
}

// DefaultParams returns a map of all directions.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error { return param.Validate(p) }
