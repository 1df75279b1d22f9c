package sdplr

import (
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/engine/param"
)

// Method is the name of this method in the catalog and in model files.
const Method = "sdplr"

// DefaultKernel is the kernel in whose feature space a Learner without one looks for neighbours.
const DefaultKernel = graphkernel.DefaultKernel

// About says what the method is.
var About = algorithms.About{
	Name:            Method,
	Title:           "SDPLR",
	Summary:         "the problem of npkl by a low-rank augmented Lagrangian: its baseline",
	Paper:           "Burer & Monteiro, A nonlinear programming algorithm for solving semidefinite programs via low-rank factorization, Mathematical Programming 95, 2003",
	DefaultKernel:   DefaultKernel,
	UsesCannotLinks: true,
	Pairwise:        true,
	Baseline:        true,
	Small:           true,
}

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	graphkernel.Settings `choices:"loss=hl (hinge),shl (squared hinge),sl (square)" default:"loss=hl"`
	Rank                 int `json:"rank" param:"rank" zero:"as many as the number of links asks for" help:"dimensions"`
	// Tol is compared with the difference, rooted mean square, of slacks from residuals, and with the length of the gradient
	// relative to 1 + |V|.
	Tol     float64 `json:"tol" param:"tol" default:"1e-05" range:"> 0" help:"difference of slacks and residuals, and relative gradient, that end the fit"`
	MaxIter int     `json:"max_iter" param:"max_iter" default:"10000" range:">= 1" help:"most steps"`
}

// DefaultParams returns the hinge on a graph of 5 neighbors.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	if err := param.Validate(p); err != nil {
		return err
	}
	return p.Check(math.MaxInt)
}
