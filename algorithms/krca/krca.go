// Package krca learns a kernel from must-links: kernel relevant component analysis
// (Tsang, Cheung & Kwok, "Kernel relevant component analysis for distance metric
// learning", IJCNN 2005).
//
// # The learned kernel
//
// The n points in chunklets (connected components of the must-links) have, in the feature
// space of the kernel k, the within-chunklet covariance C = (1/n) Phi H Phi', where H
// subtracts the mean of each chunklet. The learned kernel whitens the variation within
// chunklets and does not change other directions:
//
//	kt(x,y) = phi(x)' (eps I + C)^-1 phi(y)
//
// With F, the block-diagonal Helmert basis of the range of H (n x r, r = n - #chunklets),
// and s = n eps it is
//
//	kt(x,y) = (k(x,y) - k_x' F R^-1 F' k_y) / eps,    R = sI + F'KF            (1b)
//
// a Cholesky factorization of order r, where k_x holds the kernel between x and the points
// in chunklets. F is never formed: running sums over the chunklets apply it.
//
// # Wrong must-links
//
// One wrong must-link joins two chunklets. With Params.Robust, the default, a fit leaves out
// must-links that cannot-links and nearest neighbors contradict, and says how many (package
// algorithms/internal/trusted). If must-links join the points of no cannot-link, all are used, and
// the result is exactly that of the paper. Updates use the chunklets that they are given.
//
// # Two forms
//
// The two terms of (1b) cancel when the within-chunklet directions span the feature space
// and eps is small, as a linear or polynomial kernel makes likely. With F'KF = U S U',
// keeping s_r > 1e-12 s_1, c_r(x) = u_r' F' k_x / sqrt(s_r) and the residual
// rho(x,y) = k(x,y) - sum_r c_r(x) c_r(y), set to 0 where |rho| <= 1e-10 sqrt(k(x,x) k(y,y)),
//
//	kt(x,y) = rho(x,y)/eps + sum_r n/(n eps + s_r) c_r(x) c_r(y)               (1c)
//
// does not cancel, but it divides by s_r, which rounding blurs by u s_1. FormAuto, the
// default, takes the form that loses less; it takes (1c) when all of these hold:
//
//   - (1b) loses more than one digit: max k(z,z) > 16 max eps kt(z,z), the maxima over up to
//     64 evenly spaced points of the chunklets. This is the test that is tried first,
//     because it costs only 64 r^2 flops and nearly always settles the matter.
//   - F'KF is numerically singular: a Cholesky decomposition with pivoting finds a rank
//     below r, or an eigenvalue at most 1e-12 times the largest.
//   - (1b) loses more than (1c): the ratio of the first test exceeds that of the largest to
//     the smallest s_r that is kept.
//
// It takes (1c) also when rounding leaves R without a Cholesky factor, which happens for s
// near the rounding errors of F'KF. Singularity alone is no reason: repeated rows make
// F'KF of a Gaussian kernel singular without any cancellation. The decomposition behind
// (1c) is the pivoted one, P B B' P', of rank q, and the eigenvectors of the q x q matrix
// B'B: O(r q^2) where an eigendecomposition of F'KF would cost O(r^3).
//
// # Embedding
//
// Embed of a [Model] is kernel PCA of kt on the training points (or, beyond 5000, on a seeded
// sample of them); [Model.Gram] and [Model.Distances] are exact for any points.
//
// # Updates
//
// [Model.Incremental] returns the learned kernel of a model for updates with more chunklets, at
// fixed s, by bordering the factor of (1b); see [Incremental]. [Model.Update] and
// [Model.DropLast] are single updates with a new embedding.
package krca

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
)

// Method is the name of this method in the catalog and in model files.
const Method = "krca"

// DefaultKernel is the default kernel of a Learner. With a linear kernel, use Params.EpsRel = 1e-2.
const DefaultKernel = "rbf:sigma=msq"

// Form selects one of two equal formulas for the learned kernel; see the package documentation.
type Form string

const (
	FormAuto     Form = "auto"     // Cholesky unless it would cancel
	FormCholesky Form = "cholesky" // equation (1b)
	FormSpectral Form = "spectral" // equation (1c)
)

// About describes the method.
var About = algorithms.About{
	Name: Method, Title: "KRCA",
	Summary: "kernel relevant component analysis: whitens what varies inside must-link groups",
	Paper: "Tsang, Cheung & Kwok, Kernel relevant component analysis for distance metric learning, " +
		"IJCNN 2005",
	DefaultKernel: DefaultKernel,
}

// Params are the parameters of the method. Make them with [DefaultParams].
//
// Set exactly one of EpsRel, Eps and FixedS; 0 means not set. They are the same number in
// three units: eps = EpsRel * mean_i k(x_i,x_i) over all training points,
// eps = Eps, or eps = FixedS / n with n the number of points in chunklets.
type Params struct {
	EpsRel float64 `json:"eps_rel,omitempty" param:"eps_rel" default:"0.001" oneof:"eps" range:"> 0" help:"regularization relative to the kernel's mean diagonal (1e-2 suits a linear kernel)"`
	Eps    float64 `json:"eps,omitempty" param:"eps" oneof:"eps" range:"> 0" help:"regularization" unit:"units of the kernel"`
	// FixedS does not change when chunklets are added to a model.
	FixedS float64 `json:"fixed_s,omitempty" param:"fixed_s" oneof:"eps" range:"> 0" help:"n eps with n the points in chunklets"`
	// Dims is the number of leading directions of the centered learned kernel that Embed returns,
	// fewer when fewer are positive. With 0 distances between embedded training points are exact.
	Dims int `json:"dims" param:"dims" default:"20" zero:"all positive ones, uncentered" help:"directions of the embedding, centered"`
	// Power multiplies column r of the embedding by (lambda_r / lambda_1)^Power, for the
	// eigenvalues lambda of the learned kernel matrix. Distances and Gram stay exact.
	Power float64 `json:"power,omitempty" param:"power" range:">= 0" help:"multiplies each column of the embedding by (eigenvalue / largest)^power; 0.5 favors ranking"`
	// Landmarks are drawn by the seed.
	Landmarks int `json:"landmarks" param:"landmarks" zero:"all up to 5000" help:"support points of the embedding among the training points"`
	// Robust changes nothing unless must-links join the points of a cannot-link. Then it leaves out
	// must-links that cannot-links and nearest neighbors contradict. The paper's method uses all.
	Robust bool `json:"robust,omitempty" param:"robust" default:"true" help:"true leaves out must-links that cannot-links and neighbors contradict; false uses all, as in the paper"`
	Form   Form `json:"form" param:"form" default:"auto" choices:"auto,cholesky,spectral" zero:"auto" help:"formula of the learned kernel"`
}

// maxLandmarks is the number of training points up to which the embedding uses all.
const maxLandmarks = 5000

// DefaultParams returns eps_rel = 1e-3 and 20 dimensions, which suit most data sets, and Robust.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first invalid value.
func (p Params) Validate() error { return param.Validate(p) }

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
		return 0, fault.Data("",
			"the mean of k(x,x) over the training points is %g: want a finite number > 0, "+
				"as eps_rel is relative to it (scale the features, or take another kernel)", meanDiagonal)
	default:
		eps = p.EpsRel * meanDiagonal
	}
	// 1/eps and s = n eps must be ordinary numbers, or kt would be Inf or NaN.
	if eps < 1e-290 || float64(n)*eps > 1e290 {
		return 0, fault.Param("eps", eps, "a number between 1e-290 and 1e290/n")
	}
	return eps, nil
}

// RowsOf returns the rows of the points in chunklets and of the landmarks of the embedding.
func (p Params) RowsOf(set *links.Set, seed uint64) ([]int, error) {
	rows, refs, _, err := p.usedRows(set, seed)
	return merge(rows, refs), err
}

// usedRows returns the rows in chunklets with their basis, and those of the landmarks.
func (p Params) usedRows(set *links.Set, seed uint64) (rows, refs []int, f helmert, err error) {
	if err := p.Validate(); err != nil {
		return nil, nil, f, err
	}
	groups, err := learnable(set)
	if err != nil {
		return nil, nil, f, err
	}
	rows, f = flatten(groups)
	return rows, landmarks(set.N(), p.Landmarks, seed), f, nil
}

// LearnRows is Learn on f.Links.N() points of which f.X has only those of [Params.RowsOf], in that
// order. eps_rel, whose unit depends on all points, requires a kernel with k(x,x) = 1, such as rbf;
// other kernels require eps or fixed_s.
func (p Params) LearnRows(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	rows, refs, basis, err := p.usedRows(f.Links, f.Seed)
	if err != nil {
		return nil, err
	}
	union := merge(rows, refs)
	if err := input.Rows(f.X, len(union), f.Kernel, DefaultKernel); err != nil {
		return nil, err
	}
	stage := stages(f)
	c, err := p.trust(ctx, f, f.X, positions(union, rows), chosen{rows, basis, nil})
	if err != nil {
		return nil, err
	}
	c.rows = positions(union, c.rows)
	m, err := p.model(ctx, f, task{c, positions(union, refs), unitOf(f.Links.N())}, stage)
	if err != nil {
		return nil, err
	}
	if err := learner.Measure(ctx, f.Eng, m, f.X); err != nil {
		return nil, err
	}
	return m, ctx.Err()
}

// unitOf returns the mean of k(x,x) over n points for a kernel with k(x,x) = 1, rounded like mean.
func unitOf(n int) unit {
	return func(_ context.Context, _ *engine.Engine, k kernel.Kernel, _ points.Points) (float64, error) {
		if !k.UnitDiagonal() {
			return 0, fault.Param("eps_rel", "given", "eps or fixed_s, since the unit of eps_rel, the mean "+
				"of k(x,x) of kernel %s, depends on all points", k)
		}
		sum := 0.0
		for range n {
			sum += 1 / float64(n)
		}
		return sum, nil
	}
}
