package lleratio

import (
	"math"

	"github.com/mustlink/mustlink/engine/fault"
)

// Method is the name of this method in the catalog and in model files.
const Method = "lleratio"

// DefaultKernel is the kernel that a Learner without one uses.
const DefaultKernel = "exp:lle"

// Mode says which coordinates of points are learned in.
type Mode string

const (
	Kernel Mode = "kernel" // kernel values with the must-linked points, the paper's
	Full   Mode = "full"   // kernel values with all points
	Linear Mode = "linear" // the features
)

// Orthogonality says what is orthonormal, with kernels.
type Orthogonality string

const (
	Feature     Orthogonality = "feature"     // the directions of the feature space
	Coefficient Orthogonality = "coefficient" // the coefficients of the expansion, the paper's
)

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	Mode          Mode          `json:"mode"`
	Orthogonality Orthogonality `json:"orthogonality"`
	// Alpha is the weight of the reconstruction errors, >= 0, or AlphaByDimension.
	Alpha float64 `json:"alpha"`
	// Neighbors is the number of neighbours that reconstruct a point, at least 1.
	Neighbors int `json:"neighbors"`
	// RegG is added to the diagonals of local Gram matrices, relative to their traces, >= 0.
	RegG float64 `json:"reg_g"`
	// Dims is the number of columns of Embed, 0 for a quarter of the coordinates and at most 25. The
	// paper has half of the coordinates.
	Dims int `json:"dims"`
	// MaxIter is the most steps of the trace ratio.
	MaxIter int `json:"max_iter"`
}

// AlphaByDimension as Params.Alpha is the paper's rule: 0.2 for points of more than 5 dimensions, else
// 0.02.
const AlphaByDimension = -1

// mostDims is the most dimensions that are taken unasked.
const mostDims = 25

// DefaultParams returns the kernel mode with orthonormal directions.
func DefaultParams() Params {
	return Params{Mode: Kernel, Orthogonality: Feature, Alpha: AlphaByDimension, Neighbors: 10, RegG: 1e-3, MaxIter: 50}
}

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	switch {
	case p.Mode != Kernel && p.Mode != Full && p.Mode != Linear:
		return fault.Unknown("mode", string(p.Mode), []string{string(Kernel), string(Full), string(Linear)})
	case p.Orthogonality != Feature && p.Orthogonality != Coefficient:
		return fault.Unknown("orthogonality", string(p.Orthogonality), []string{string(Feature), string(Coefficient)})
	case !(p.Alpha >= 0 || p.Alpha == AlphaByDimension) || math.IsInf(p.Alpha, 0):
		return &fault.ParamError{Param: "alpha", Value: p.Alpha, Want: "a finite number >= 0, or auto"}
	case p.Neighbors < 1:
		return &fault.ParamError{Param: "neighbors", Value: p.Neighbors, Want: "an integer >= 1"}
	case !(p.RegG >= 0) || math.IsInf(p.RegG, 0):
		return &fault.ParamError{Param: "reg_g", Value: p.RegG, Want: "a finite number >= 0"}
	case p.Dims < 0:
		return &fault.ParamError{Param: "dims", Value: p.Dims, Want: "an integer >= 0"}
	case p.MaxIter < 1:
		return &fault.ParamError{Param: "max_iter", Value: p.MaxIter, Want: "an integer >= 1"}
	}
	return nil
}

// alpha returns the weight for points of d dimensions.
func (p Params) alpha(d int) float64 {
	switch {
	case p.Alpha != AlphaByDimension:
		return p.Alpha
	case d > 5:
		return 0.2
	}
	return 0.02
}

// dims returns the number of dimensions for m coordinates: fewer than m, since all of them learn
// nothing.
func (p Params) dims(m int) (int, error) {
	d := p.Dims
	if d == 0 {
		d = max(1, min(m/4, mostDims))
	}
	if d >= m {
		return 0, &fault.ParamError{Param: "dims", Value: d, Want: tooMany(m)}
	}
	return d, nil
}
