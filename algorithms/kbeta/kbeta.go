// Package kbeta re-weights the spectrum of a kernel so that similar pairs come close: scalable
// kernel metric learning (Yeung, Chang & Dai, "A scalable kernel-based semi-supervised metric
// learning algorithm with out-of-sample generalization ability", Neural Computation 20, 2008).
//
// # Basic form
//
// The centered kernel matrix is sum_r mu_r v_r v_r'. The learned one is
//
//	sum_r beta_r^2 v_r v_r',   beta_r = c / D_rr / sum_q 1/D_qq,   c = sum_r sqrt(mu_r)
//
// where D_rr is the mean of (v_r(i) - v_r(j))^2 over the must-links (i, j): of all weights with the
// same sum these make the mean squared distance of the must-links smallest. The weights depend on
// the eigenvectors that are kept, and hardly on the eigenvalues, so their number ([Params].Rank)
// is a parameter of the model: directions of noise get nearly the weight of the others.
//
// # Landmarks
//
// With landmarks, m points among which all points of must-links are, the kernel matrix is that of
// the landmarks, and any other point x stands for the combination w(x) of its nearest landmarks
// that reconstructs it best (as in locally linear embedding); its place is diag(beta) V'w(x). So a
// fit costs O(m^3) whatever the number of points, and a new point k landmarks. Iterations look for
// the nearest landmarks, and reconstruct, in the learned space; beta is a fixed point of them, as
// are the landmarks' places. A point that equals a landmark has its place.
//
// # Beyond the paper
//
// Dissimilar pairs may take part ([Params].Cannot): with E_rr the mean of (v_r(i) - v_r(j))^2 over
// the cannot-links, the constraint becomes sum_r e_r beta_r = c with e_r = 1 - t + t sqrt(E_rr/mean
// E), so that the spread that is kept is measured where it is wanted, and beta_r is proportional to
// e_r / D_rr. On five small data sets this moved the balanced Rand index of k-means by at most
// 0.013, up where classes overlap, so it is off by default. Landmarks chosen by rules other than
// the uniform one brought nothing on the paper's data. Nystrom's extension of the eigenvectors may
// take the place of the reconstruction ([Params].Extension).
//
// # New links, new points
//
// Links enter D only. [Model.AddLinks] sums it anew over all links between landmarks, from the
// eigenvectors that the model has, and so has the bits of a fit; a [Path] does the same for many
// values of reg_d. New points need nothing: Model.Embed places them out of sample by the landmarks,
// and the metric stays.
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
	// Landmarks, fewer than there are points in must-links, are raised to these, with a notice. 0 is
	// the basic form.
	Landmarks int `json:"landmarks" param:"landmarks" zero:"all points" file:"their row numbers, one a line" help:"points that carry the metric, those of must-links included"`
	// LandmarkRows, if any, are the landmarks, besides the points of must-links.
	LandmarkRows []int  `json:"-" param:"-"`
	Rule         string `json:"rule" param:"rule" default:"uniform" choices:"uniform,kmeans++,farthest,leverage" zero:"uniform" help:"how other landmarks are chosen"`
	Neighbors    int    `json:"neighbors" param:"neighbors" default:"5" range:">= 1" help:"landmarks that reconstruct a point"`
	// Iterations are limited because every embedding repeats them, also that of a model file from
	// elsewhere.
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
