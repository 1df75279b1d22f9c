package rca

import (
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/param"
)

// Method is the name of this method in the catalog and in model files.
const Method = "rca"

// About says what the method is.
var About = algorithms.About{
	Name:     Method,
	Title:    "RCA",
	Summary:  "relevant component analysis, linear: the baseline of krca",
	Paper:    "Bar-Hillel, Hertz, Shental & Weinshall, Learning a Mahalanobis metric from equivalence constraints, JMLR 2005",
	Linear:   true,
	Baseline: true,
}

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	// EpsRel: small values are the method as published.
	EpsRel  float64 `json:"eps_rel" param:"eps_rel" default:"1e-06" range:"> 0" help:"regularization relative to the mean within-group variance"`
	Dims    int     `json:"dims" param:"dims" zero:"all" help:"leading discriminant directions"`
	RankTol float64 `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a principal direction counts as constant"`
}

// DefaultParams returns eps_rel = 1e-6, all dimensions and rank_tol = 1e-10.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error { return param.Validate(p) }
