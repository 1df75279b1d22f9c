package lmnn

import (
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/param"
)

// Method is the name of this method in the catalog and in model files.
const Method = "lmnn"

// About says what the method is.
var About = algorithms.About{
	Name:            Method,
	Title:           "LMNN",
	Summary:         "large margin nearest neighbors, linear; learns from classes (--links-from-labels all)",
	Paper:           "Weinberger, Blitzer & Saul, Distance metric learning for large margin nearest neighbor classification, NIPS 18, 2006",
	Linear:          true,
	UsesCannotLinks: true,
	Baseline:        true,
}

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	// Neighbors are fewer in smaller classes.
	Neighbors int     `json:"neighbors" param:"neighbors" default:"3" range:">= 1" help:"target neighbors of a point"`
	Mu        float64 `json:"mu" param:"mu" default:"0.5" range:"> 0, < 1" help:"weight of the impostors (that of the targets is 1 - mu)"`
	Dims      int     `json:"dims" param:"dims" zero:"all directions of the data" help:"dimensions of the map"`
	// Rank: with as many directions as points every class can be drawn together in one place, which tells nothing of other points.
	Rank    int     `json:"rank" param:"rank" default:"eighth" named:"eighth=-1: an eighth of the linked points, rounded up" zero:"all" help:"principal directions that are learned in"`
	Tol     float64 `json:"tol" param:"tol" default:"0.0001" range:"> 0" help:"relative decrease of the objective over 5 iterations that ends the fit"`
	MaxIter int     `json:"max_iter" param:"max_iter" default:"300" range:">= 1" help:"most iterations"`
	RankTol float64 `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a principal direction counts as constant"`
}

// RankEighth as Params.Rank is an eighth of the linked points, rounded up.
const RankEighth = -1

// DefaultParams returns 3 target neighbors, equal weights and as many dimensions as the points carry.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error { return param.Validate(p) }
