package cmvu

import (
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/param"
)

// Method is the name of this method in the catalog and in model files.
const Method = "cmvu"

// DefaultKernel is the kernel in whose feature space a Learner without one takes distances.
const DefaultKernel = graphkernel.DefaultKernel

// About says what the method is.
var About = algorithms.About{
	Name:          Method,
	Title:         "CMVU",
	Summary:       "colored maximum variance unfolding, low rank: pictures that keep the distances of neighbors, a baseline of gml",
	Paper:         "Song, Smola, Borgwardt & Gretton, Colored maximum variance unfolding, NIPS 20, 2007",
	DefaultKernel: DefaultKernel,
	Baseline:      true,
}

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	// Neighbourhood is the graph: "knn", "eps" or "given". Heat weighs edges by their lengths.
	graphkernel.Neighbourhood `default:"neighbors=10"`
	Rank                      int `json:"rank" param:"rank" zero:"a tenth of the points, at most 20" help:"eigenvectors of the graph"`
	// Penalty is nu in units of what the second term gains at most at a mean distance of 1.
	Penalty float64 `json:"penalty" param:"penalty" default:"10" range:"> 0" help:"weight of the distances of neighbors: they grow by about 1 / (2 penalty)"`
	Dims    int     `json:"dims" param:"dims" zero:"all" help:"columns of the embedding, those of largest variance"`
	// Tol is relative to that gain and nu.
	Tol     float64 `json:"tol" param:"tol" default:"1e-05" range:"> 0" help:"residual of the optimum's conditions that ends the search"`
	MaxIter int     `json:"max_iter" param:"max_iter" default:"2000" range:">= 1" help:"most steps"`
}

// DefaultParams returns a graph of 10 neighbors and a penalty of 10.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	if err := param.Validate(p); err != nil {
		return err
	}
	if p.Graph == graphkernel.Dense {
		return &fault.ParamError{Param: "graph", Value: string(p.Graph), Want: "knn, eps:R or @FILE"}
	}
	return p.Check(math.MaxInt)
}
