package simplenpkl

import (
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/engine/param"
)

// Method is the name of this method in the catalog and in model files.
const Method = "simplenpkl"

// DefaultKernel is the kernel in whose feature space a Learner without one looks for neighbours.
const DefaultKernel = graphkernel.DefaultKernel

// The losses.
const (
	Linear       graphkernel.Loss = "linear" // -f
	SquaredHinge                  = graphkernel.SquaredHinge
)

// About says what the method is.
var About = algorithms.About{
	Name:            Method,
	Title:           "SimpleNPKL",
	Summary:         "non-parametric kernels of bounded size by eigendecompositions: a baseline of npkl",
	Paper:           "Zhuang, Tsang & Hoi, A family of simple non-parametric kernel learning algorithms, JMLR 12, 2011",
	DefaultKernel:   DefaultKernel,
	UsesCannotLinks: true,
	Pairwise:        true,
	Baseline:        true,
	Small:           true,
}

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	graphkernel.Settings `choices:"loss=linear,shl (squared hinge)" default:"loss=shl"`
	Size                 float64 `json:"size" param:"size" default:"0.1" range:"> 0" help:"most Frobenius norm of the kernel matrix, relative to the number of points"`
	Rank                 int     `json:"rank" param:"rank" zero:"as many as the number of links asks for" help:"most eigenvectors"`
	Tol                  float64 `json:"tol" param:"tol" default:"0.001" range:"> 0" help:"gap between primal and dual objective that ends the fit, relative to the objective of 0"`
	MaxIter              int     `json:"max_iter" param:"max_iter" default:"500" range:">= 1" help:"most eigendecompositions"`
}

// DefaultParams returns the squared hinge on a graph of 5 neighbors.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	if err := param.Validate(p); err != nil {
		return err
	}
	return p.Check(math.MaxInt)
}
