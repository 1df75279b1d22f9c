package kbeta

import (
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/param"
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

// About says what the method is.
var About = algorithms.About{
	Name:            Method,
	Title:           "KBeta",
	Summary:         "scalable kernel metric learning: re-weights the spectrum of a kernel on landmarks",
	Paper:           "Yeung, Chang & Dai, A scalable kernel-based semi-supervised metric learning algorithm with out-of-sample generalization ability, Neural Computation 20, 2008",
	DefaultKernel:   DefaultKernel,
	UsesCannotLinks: true,
	Pairwise:        true,
}

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	// Landmarks, fewer than there are points in must-links, are raised to these, with a notice. 0 is the basic form.
	Landmarks int `json:"landmarks" param:"landmarks" zero:"all points" file:"their row numbers, one a line" help:"points that carry the metric, those of must-links included"`
	// LandmarkRows, if any, are the landmarks, besides the points of must-links.
	LandmarkRows []int  `json:"-" param:"-"`
	Rule         string `json:"rule" param:"rule" default:"uniform" choices:"uniform,kmeans++,farthest,leverage" zero:"uniform" help:"how other landmarks are chosen"`
	Neighbors    int    `json:"neighbors" param:"neighbors" default:"5" range:">= 1" help:"landmarks that reconstruct a point"`
	// Iterations are limited because every embedding repeats them, also that of a model file from elsewhere.
	Iterations int     `json:"iterations" param:"iterations" default:"1" range:">= 1, <= 1000" help:"iterations of the coordinates of points that are no landmarks (3 in the paper's tables)"`
	Rank       int     `json:"rank" param:"rank" default:"root" named:"root=-1: the square root of the landmarks, rounded up" zero:"no cap" help:"most directions that are kept"`
	RankTol    float64 `json:"rank_tol" param:"rank_tol" default:"1e-06" range:">= 0, < 1" help:"eigenvalue, relative to the largest, up to which a direction is dropped"`
	RegD       float64 `json:"reg_d" param:"reg_d" default:"1e-06" range:">= 0" help:"added to the spread of must-links in every direction, relative to the mean"`
	RegG       float64 `json:"reg_g" param:"reg_g" default:"0.001" range:">= 0" help:"added to local Gram matrices, relative to their traces"`
	// Dims are those of the embedding only: distances and kernel values use all.
	Dims      int       `json:"dims" param:"dims" zero:"all" help:"columns of the embedding, of the largest weights"`
	Cannot    float64   `json:"cannot" param:"cannot" range:">= 0, <= 1" help:"part t of cannot-links (0 in the paper, which ignores them)"`
	Extension Extension `json:"extension" param:"extension" default:"lle" choices:"lle,nystrom" help:"how points that are no landmarks get their coordinates"`
}

// TakeRows makes the rows that a file names the landmarks.
func (p *Params) TakeRows(rows []int) { p.LandmarkRows = rows }

// RankRoot as Params.Rank is the square root of the number of landmarks, rounded up.
const RankRoot = -1

// DefaultParams returns the basic form with a rank of sqrt(n), 5 neighbors and 1 iteration; the
// paper's tables have no cap, RankTol 1e-6 and 3 iterations.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error { return param.Validate(p) }

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
