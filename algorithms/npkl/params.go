package npkl

import (
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/engine/param"
)

// Method is the name of this method in the catalog and in model files.
const Method = "npkl"

// Loss says how a link that is not met is charged.
type Loss = graphkernel.Loss

// The losses at f = t Z_ij.
const (
	Square       = graphkernel.Square       // (1-f)^2
	SquaredHinge = graphkernel.SquaredHinge // max(0, 1-f)^2
	Hinge        = graphkernel.Hinge        // 2 max(0, 1-f)
)

// Neighbourhood says how the graph of the points is made: Graph, Neighbors, Radius and Heat. The paper has
// 10 neighbours for the width of dense graphs.
type Neighbourhood = graphkernel.Neighbourhood

// The graphs.
const (
	KNN    = graphkernel.KNN    // the nearest neighbours of each, either way
	Dense  = graphkernel.Dense  // all, by exp(-d^2 / (2 sigma^2))
	Within = graphkernel.Within // those up to a distance
	Given  = graphkernel.Given  // the similarities that the Learner is given
)

// Plan says which rows the sweeps go through. The optimum is the same.
type Plan string

// The plans.
const (
	Cheapest Plan = "auto"    // the one of fewer operations
	Whole    Plan = "full"    // all points
	Boundary Plan = "reduced" // the points with links, after the elimination of all others
)

// About says what the method is.
var About = algorithms.About{
	Name:            Method,
	Title:           "NPKL",
	Summary:         "non-parametric kernel learning by block coordinate descent on a graph of all points",
	Paper:           "Hu, Wang & Chen, BCDNPKL: scalable non-parametric kernel learning using block coordinate descent, ICML 2011",
	DefaultKernel:   DefaultKernel,
	UsesCannotLinks: true,
	Pairwise:        true,
}

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	Loss          Loss    `json:"loss" param:"loss" default:"sl" choices:"sl (square),shl (squared hinge),hl (hinge)" help:"of links that are not met"`
	C             float64 `json:"C" param:"C" default:"1" range:"> 0" help:"weight of the links"`
	Delta         float64 `json:"delta" param:"delta" default:"0.2" range:"> 0" help:"added to the diagonal of the graph's normalized Laplacian (C/2 in the paper)"`
	Rank          int     `json:"rank" param:"rank" zero:"as many as the optimum wants" help:"dimensions"`
	Neighbourhood `default:"neighbors=5"`
	Plan          Plan `json:"plan" param:"plan" default:"auto" choices:"auto (the cheaper),full (all points),reduced (those with links)" help:"rows that are swept"`
	Plain         bool `json:"plain,omitempty" param:"plain" help:"true sweeps without extrapolation, as the paper does"`
	// Tol is compared with the relative change of V in a sweep, or the root of that of the objective.
	Tol     float64 `json:"tol" param:"tol" default:"1e-05" range:"> 0" help:"relative change of the coordinates in a sweep that ends the fit"`
	MaxIter int     `json:"max_iter" param:"max_iter" default:"2000" range:">= 1" help:"most sweeps"`
}

// DefaultParams returns the square loss on a graph of 5 neighbors, with adaptive rank.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	if err := param.Validate(p); err != nil {
		return err
	}
	return p.Check(math.MaxInt)
}
