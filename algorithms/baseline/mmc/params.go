package mmc

import (
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/param"
)

// Method is the name of this method in the catalog and in model files.
const Method = "mmc"

// About says what the method is.
var About = algorithms.About{
	Name:            Method,
	Title:           "MMC",
	Summary:         "distances of cannot-links as large as those of must-links allow, linear: full or one weight a feature",
	Paper:           "Xing, Ng, Jordan & Russell, Distance metric learning, with application to clustering with side-information, NIPS 15, 2002",
	Linear:          true,
	UsesCannotLinks: true,
	Pairwise:        true,
	Baseline:        true,
}

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	Diagonal bool `json:"diagonal" param:"diagonal" help:"true learns one weight a feature, not a matrix"`
	// EpsRel: the default suits features of one scale; where some are much larger than others, 1e-3 does not leave them as loud.
	EpsRel  float64 `json:"eps_rel" param:"eps_rel" default:"0.1" range:">= 0" help:"scatter added to that of the must-links, relative to its mean"`
	RankTol float64 `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a principal direction counts as constant"`
	Tol     float64 `json:"tol" param:"tol" default:"0.0001" range:"> 0" help:"relative distance to the optimum, at most, that ends the search"`
	MaxIter int     `json:"max_iter" param:"max_iter" default:"1000" range:">= 1" help:"most iterations"`
}

// DefaultParams returns a full matrix.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error { return param.Validate(p) }
