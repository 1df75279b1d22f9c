// Package kbeta re-weights the spectrum of a kernel so that similar pairs come close: scalable
// kernel metric learning (Yeung, Chang & Dai, "A scalable kernel-based semi-supervised metric
// learning algorithm with out-of-sample generalization ability", Neural Computation 20, 2008).
//
// # Basic form
//
// The centered kernel matrix is sum_r mu_r v_r v_r'. The learned kernel matrix is
//
//	sum_r beta_r^2 v_r v_r',   beta_r = c / D_rr / sum_q 1/D_qq,   c = sum_r sqrt(mu_r)
//
// where D_rr is the mean of (v_r(i) - v_r(j))^2 over the must-links (i, j). Of all weights with the
// same sum, these minimize the mean squared distance of the must-links. The weights depend on the
// eigenvectors that are kept, and hardly on the eigenvalues: directions of noise get nearly as much
// weight as the others. The number of directions ([Params].Rank) is therefore a parameter of the
// model.
//
// # Landmarks
//
// With landmarks, the kernel matrix is that of m points, which include all points of must-links.
// Any other point x is replaced by w(x), the combination of its nearest landmarks that reconstructs
// it best (as in locally linear embedding); its coordinates are diag(beta) V'w(x). So a fit costs
// O(m^3) for any number of points, and a new point costs k landmarks. Iterations search for the
// nearest landmarks, and reconstruct, in the learned space; beta and the coordinates of the
// landmarks are fixed points of the iteration. A point that equals a landmark has the coordinates
// of the landmark.
//
// # Beyond the paper
//
// Dissimilar pairs can be used, too ([Params].Cannot). With E_rr the mean of (v_r(i) - v_r(j))^2
// over the cannot-links, the constraint becomes sum_r e_r beta_r = c with e_r = 1 - t + t
// sqrt(E_rr/mean E), and beta_r is proportional to e_r / D_rr: directions that separate
// cannot-links count more. On five small data sets this changed the balanced Rand index of k-means
// by at most 0.013 (it rose where classes overlap), so it is off by default. Rules other than
// uniform choice of landmarks gained nothing on the paper's data. Nystrom's extension of the
// eigenvectors can replace the reconstruction ([Params].Extension).
//
// # Adding links and points
//
// Links affect only D. [Model.AddLinks] sums D from scratch over all links between landmarks, from
// the stored eigenvectors, so its result is bit-identical to a fit; a [Path] does the same for many
// values of reg_d. New points require no new fit: Model.Embed computes their coordinates from the
// landmarks, and the metric does not change.
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

// Extension is the out-of-sample extension: how points that are not landmarks get their
// coordinates.
type Extension string

const (
	Reconstruction Extension = "lle"     // from their nearest landmarks, as in the paper
	Nystrom        Extension = "nystrom" // from the kernel values with all landmarks
)

// About describes the method.
var About = algorithms.About{
	Name:    Method,
	Title:   "KBeta",
	Summary: "scalable kernel metric learning: re-weights the spectrum of a kernel on landmarks",
	Paper: "Yeung, Chang & Dai, A scalable kernel-based semi-supervised metric learning " +
		"algorithm with out-of-sample generalization ability, Neural Computation 20, 2008",
	DefaultKernel:   DefaultKernel,
	UsesCannotLinks: true,
	Pairwise:        true,
}

// Params are the parameters of the method. [DefaultParams] returns the defaults.
type Params struct {
	// Landmarks is raised, with a notice, to the number of points in must-links if it is below. 0
	// is the basic form.
	Landmarks int `json:"landmarks" param:"landmarks" zero:"all points" file:"their row numbers, one a line" help:"number of points that carry the metric, including those of must-links"`
	// LandmarkRows, if not empty, are the landmarks, in addition to the points of must-links.
	LandmarkRows []int  `json:"-" param:"-"`
	Rule         string `json:"rule" param:"rule" default:"uniform" choices:"uniform,kmeans++,farthest,leverage" zero:"uniform" help:"how landmarks that are not in must-links are chosen"`
	Neighbors    int    `json:"neighbors" param:"neighbors" default:"5" range:">= 1" help:"number of landmarks that reconstruct a point"`
	// Iterations has a limit because every embedding repeats them, also with a model file from an
	// untrusted source.
	Iterations int     `json:"iterations" param:"iterations" default:"1" range:">= 1, <= 1000" help:"iterations for the coordinates of points that are not landmarks (3 in the paper's tables)"`
	Rank       int     `json:"rank" param:"rank" default:"root" named:"root=-1: the square root of the landmarks, rounded up" zero:"no limit" help:"maximum number of directions"`
	RankTol    float64 `json:"rank_tol" param:"rank_tol" default:"1e-06" range:">= 0, < 1" help:"eigenvalue, relative to the largest, up to which a direction is dropped"`
	RegD       float64 `json:"reg_d" param:"reg_d" default:"1e-06" range:">= 0" help:"added to the spread of must-links in every direction, relative to the mean"`
	RegG       float64 `json:"reg_g" param:"reg_g" default:"0.001" range:">= 0" help:"added to local Gram matrices, relative to their traces"`
	// Dims limits the embedding only: distances and kernel values use all directions.
	Dims      int       `json:"dims" param:"dims" zero:"all" help:"columns of the embedding: the directions of the largest weights"`
	Cannot    float64   `json:"cannot" param:"cannot" range:">= 0, <= 1" help:"influence t of cannot-links (0 in the paper, which ignores them)"`
	Extension Extension `json:"extension" param:"extension" default:"lle" choices:"lle,nystrom" help:"how points that are not landmarks get their coordinates"`
}

// TakeRows makes the rows that a file lists the landmarks.
func (p *Params) TakeRows(rows []int) { p.LandmarkRows = rows }

// RankRoot, as Params.Rank, means the square root of the number of landmarks, rounded up.
const RankRoot = -1

// DefaultParams returns the basic form with a rank of sqrt(n), 5 neighbors and 1 iteration. The
// paper's tables have no limit on the rank, RankTol 1e-6 and 3 iterations.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first invalid value.
func (p Params) Validate() error { return param.Validate(p) }

// rank returns the maximum number of directions for m landmarks.
func (p Params) rank(m int) int {
	switch p.Rank {
	case RankRoot:
		return min(m, int(math.Ceil(math.Sqrt(float64(m)))))
	case 0:
		return m
	}
	return min(m, p.Rank)
}
