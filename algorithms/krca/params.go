package krca

import (
	"math"
	"strings"

	"github.com/mustlink/mustlink/engine/fault"
)

// Method is the name of this method in the catalog and in model files.
const Method = "krca"

// DefaultKernel is the kernel that a Learner without one uses. With a linear kernel, give
// Params.EpsRel = 1e-2.
const DefaultKernel = "rbf:sigma=msq"

// Form says which of two equal formulas evaluates the learned kernel; see the package.
type Form string

const (
	FormAuto     Form = "auto"     // Cholesky unless it would cancel
	FormCholesky Form = "cholesky" // equation (1b)
	FormSpectral Form = "spectral" // equation (1c)
)

var forms = []string{string(FormAuto), string(FormCholesky), string(FormSpectral)}

// Params are the parameters of the method. Make them with [DefaultParams].
//
// Exactly one of EpsRel, Eps and FixedS is given; 0 means not given. They state the same
// number in three units: eps = EpsRel * mean_i k(x_i,x_i) over all training points,
// eps = Eps, or eps = FixedS / n with n the number of points in chunklets.
type Params struct {
	// EpsRel is the regularisation relative to the kernel's mean diagonal, > 0.
	EpsRel float64 `json:"eps_rel,omitempty"`
	// Eps is the regularisation in units of the kernel, > 0.
	Eps float64 `json:"eps,omitempty"`
	// FixedS is n eps, > 0: what stays fixed when chunklets are added to a model.
	FixedS float64 `json:"fixed_s,omitempty"`
	// Dims is the number of leading directions of the centred learned kernel that Embed
	// returns, fewer when fewer are positive. 0 asks for all positive directions of the
	// uncentred one: distances between embedded training points are then exact.
	Dims int `json:"dims"`
	// Landmarks is the number of training points, drawn by the seed, that the embedding
	// is built on; 0 means all of them up to 5000.
	Landmarks int `json:"landmarks"`
	// Form chooses the formula of the learned kernel; "" means FormAuto.
	Form Form `json:"form"`
}

// maxLandmarks is the number of training points up to which the embedding uses all.
const maxLandmarks = 5000

// DefaultParams returns eps_rel = 1e-3 and 20 dimensions, which serve most data sets.
func DefaultParams() Params {
	return Params{EpsRel: 1e-3, Dims: 20, Form: FormAuto}
}

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	given := make([]string, 0, 3)
	for _, e := range []struct {
		name  string
		value float64
	}{{"eps_rel", p.EpsRel}, {"eps", p.Eps}, {"fixed_s", p.FixedS}} {
		if e.value == 0 {
			continue
		}
		if !(e.value > 0) || math.IsInf(e.value, 0) {
			return &fault.ParamError{Param: e.name, Value: e.value, Want: "a finite number > 0"}
		}
		given = append(given, e.name)
	}
	switch {
	case len(given) == 0:
		return &fault.ParamError{Param: "eps_rel", Value: p.EpsRel, Want: "a finite number > 0 (or give eps or fixed_s)"}
	case len(given) > 1:
		return TogetherError(given)
	case p.Dims < 0:
		return &fault.ParamError{Param: "dims", Value: p.Dims, Want: "an integer >= 0 (0: all positive directions)"}
	case p.Landmarks < 0:
		return &fault.ParamError{Param: "landmarks", Value: p.Landmarks, Want: "an integer >= 0 (0: all points up to 5000)"}
	}
	switch p.Form {
	case "", FormAuto, FormCholesky, FormSpectral:
		return nil
	}
	return fault.Unknown("form", string(p.Form), forms)
}

// unquoted is a value that a message shows as it is.
type unquoted string

// TogetherError is the error for parameters, two or more, of which only one may be given.
func TogetherError(names []string) error {
	return &fault.ParamError{
		Param: names[0],
		Value: unquoted("given together with " + strings.Join(names[1:], " and ")),
		Want:  "one of them: they set the same number",
	}
}

// epsilon returns eps in units of the kernel. meanDiagonal is mean_i k(x_i,x_i) over the
// training points, n the number of points in chunklets.
func (p Params) epsilon(meanDiagonal float64, n int) (float64, error) {
	var eps float64
	switch {
	case p.Eps != 0:
		eps = p.Eps
	case p.FixedS != 0:
		eps = p.FixedS / float64(n)
	case !(meanDiagonal > 0) || math.IsInf(meanDiagonal, 0):
		return 0, fault.Data("", "the mean of k(x,x) over the training points is %g: want a finite number > 0, "+
			"as eps_rel is relative to it (scale the features, or take another kernel)", meanDiagonal)
	default:
		eps = p.EpsRel * meanDiagonal
	}
	// 1/eps and s = n eps must be ordinary numbers, or kt would be Inf or NaN.
	if eps < 1e-290 || float64(n)*eps > 1e290 {
		return 0, &fault.ParamError{Param: "eps", Value: eps, Want: "a number between 1e-290 and 1e290/n"}
	}
	return eps, nil
}
