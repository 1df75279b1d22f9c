package kbeta

import (
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/solvers/landmarks"
)

// Method is the name of this method in the catalog and in model files.
const Method = "kbeta"

// DefaultKernel is the kernel that a Learner without one uses.
const DefaultKernel = "rbf:sigma=mean"

// Extension says how points that are no landmarks get their places.
type Extension string

const (
	Reconstruction Extension = "lle"     // from their nearest landmarks, the paper's
	Nystrom        Extension = "nystrom" // by the kernel values with all landmarks
)

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	// Landmarks is their number, points of must-links included; 0 takes all points, the basic
	// form. Fewer than there are points in must-links are raised to these, with a notice.
	Landmarks int `json:"landmarks"`
	// LandmarkRows, if any, are the landmarks, beside the points of must-links.
	LandmarkRows []int `json:"-"`
	// Rule chooses the landmarks that are in no must-link: one of landmarks.Rules.
	Rule string `json:"rule"`
	// Neighbors is the number of landmarks that reconstruct a point, at least 1.
	Neighbors int `json:"neighbors"`
	// Iterations of the places of points that are no landmarks, 1 to 1000: every embedding repeats them, also that
	// of a model file from elsewhere.
	Iterations int `json:"iterations"`
	// Rank is the most directions that are kept: 0 for no cap, RankRoot for the square root of the
	// number of landmarks.
	Rank int `json:"rank"`
	// RankTol is the eigenvalue, relative to the largest, up to which a direction is dropped, in
	// [0, 1).
	RankTol float64 `json:"rank_tol"`
	// RegD is added to every D_rr, relative to their mean, >= 0.
	RegD float64 `json:"reg_d"`
	// RegG is added to the diagonals of local Gram matrices, relative to their traces, >= 0.
	RegG float64 `json:"reg_g"`
	// Dims is the number of columns of Embed, those of the largest weights; 0 for all. Distances
	// and kernel values use all.
	Dims int `json:"dims"`
	// Cannot is the part t of cannot-links in [0, 1]; 0 ignores them, as the paper does.
	Cannot    float64   `json:"cannot"`
	Extension Extension `json:"extension"`
}

// RankRoot as Params.Rank is the square root of the number of landmarks, rounded up.
const RankRoot = -1

// DefaultParams returns the basic form with a rank of sqrt(n), 5 neighbours and 1 iteration; the
// paper's tables have no cap, RankTol 1e-6 and 3 iterations.
func DefaultParams() Params {
	return Params{Rule: landmarks.Uniform, Neighbors: 5, Iterations: 1, Rank: RankRoot, RankTol: 1e-6, RegD: 1e-6, RegG: 1e-3, Extension: Reconstruction}
}

const maxIterations = 1000

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	for _, c := range []struct {
		name  string
		value int
		least int
	}{{"landmarks", p.Landmarks, 0}, {"neighbors", p.Neighbors, 1}, {"iterations", p.Iterations, 1}, {"rank", p.Rank, RankRoot}, {"dims", p.Dims, 0}} {
		if c.value < c.least {
			return &fault.ParamError{Param: c.name, Value: c.value, Want: fmt.Sprintf("an integer >= %d", max(0, c.least))}
		}
	}
	if p.Iterations > maxIterations {
		return &fault.ParamError{Param: "iterations", Value: p.Iterations, Want: fmt.Sprintf("an integer from 1 to %d", maxIterations)}
	}
	for _, c := range []struct {
		name  string
		value float64
		most  float64
		want  string
	}{
		{"rank_tol", p.RankTol, math.Nextafter(1, 0), "a number from 0 up to, not including, 1"},
		{"reg_d", p.RegD, math.MaxFloat64, "a number >= 0"},
		{"reg_g", p.RegG, math.MaxFloat64, "a number >= 0"},
		{"cannot", p.Cannot, 1, "a number from 0 to 1"},
	} {
		if !(c.value >= 0 && c.value <= c.most) {
			return &fault.ParamError{Param: c.name, Value: c.value, Want: c.want}
		}
	}
	if p.Rule != "" && !slices.Contains(landmarks.Rules(), p.Rule) {
		return fault.Unknown("rule", p.Rule, landmarks.Rules())
	}
	if p.Extension != Reconstruction && p.Extension != Nystrom {
		return fault.Unknown("extension", string(p.Extension), []string{string(Reconstruction), string(Nystrom)})
	}
	return nil
}

// rank returns the most directions of m landmarks.
func (p Params) rank(m int) int {
	switch p.Rank {
	case RankRoot:
		return min(m, int(math.Ceil(math.Sqrt(float64(m)))))
	case 0:
		return m
	}
	return min(m, p.Rank)
}
