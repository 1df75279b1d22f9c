package mlkr

import (
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/param"
)

// Method is the name of this method in the catalog and in model files.
const Method = "mlkr"

// About says what the method is.
var About = algorithms.About{
	Name:     Method,
	Title:    "MLKR",
	Summary:  "metric learning for kernel regression, linear: leave-one-out error of numeric targets",
	Paper:    "Weinberger & Tesauro, Metric learning for kernel regression, AISTATS 2007",
	Linear:   true,
	Baseline: true,
}

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	Dims    int     `json:"dims" param:"dims" zero:"as many as there are directions" help:"dimensions of the map"`
	Rank    int     `json:"rank" param:"rank" zero:"all" help:"leading principal directions to learn in"`
	RankTol float64 `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a principal direction counts as constant"`
	Starts  int     `json:"starts" param:"starts" default:"3" range:">= 1, <= 3" help:"maps to start from: principal coordinates, whitened ones, these with the linear estimate"`
	Tol     float64 `json:"tol" param:"tol" default:"1e-05" range:"> 0" help:"gain of five iterations that ends the ascent, relative to the error that is left"`
	MaxIter int     `json:"max_iter" param:"max_iter" default:"2000" range:">= 1" help:"maximum iterations from each start"`
}

// DefaultParams returns a map of all directions.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error { return param.Validate(p) }
