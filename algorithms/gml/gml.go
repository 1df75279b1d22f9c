// Package gml learns a kernel by LogDet projections whose prior is adapted to the data:
// geometry-aware metric learning (Lu, Jain & Dhillon, "Geometry-aware metric learning", ICML 2009).
//
// # Problem
//
// Over positive semidefinite K and the matrices M of a family that describes the shape of the data,
// minimize
//
//	D(K, M) + gamma D(diag xi, diag xi0),   D(K, M) = tr(K M^+) - log det(K M^+) - rank
//
// such that the squared distances of K are at most xi for must-links and at least xi for
// cannot-links, with xi0 the bounds upper and lower. The slack of a link counts with its weight.
//
// # Method
//
// K and M in turn. For a given M, K is that of package itml: cyclic projections (solvers/logdet).
// For a given K, M is the best one of its family:
//
//   - spectral (3): M = sum_i alpha_i v_i v_i', alpha falling, v_i the eigenvectors of the graph's Laplacian for the
//     smallest eigenvalues mu_i, from alpha_i = exp(-t mu_i) on. In the coordinates of M, K is A, r x r, and the best
//     alpha is the isotonic regression of alpha_i A_ii: a mean for every pooled block (solvers/isotonic).
//   - datadep (5): M = (S^-1 + V diag(theta) V')^-1, a kernel matrix S that these eigenvectors deform, 0 <= theta_1 <= theta_2
//     and so on. The best theta solves a convex problem of r unknowns, by projected gradients whose projections
//     are isotonic regressions.
//   - rbf (6): M = alpha (R + ridge I), R a Gaussian kernel matrix of the linked points. For a given width alpha
//     is tr(K R^-1) / m; the width minimizes m log tr(K R^-1) + log det R, one dimension. The alternation moves
//     the width slowly, so what it is begun with counts.
//
// The objective falls with every round; it is not convex in both, so rounds are few by default.
//
// # New points
//
// For rbf and datadep exact: the learned kernel is k0(x, y) - k0(x, .)' B k0(., y), with M(x, y) =
// s(x, y) - s_x' T' s_y for k0 in the second. For spectral a new point takes the place that its
// nearest training points give it, with the weights that reconstruct it from them. So new points
// are embedded out of sample, by Embed of the model, and the metric stays.
//
// # New links
//
// A model keeps its links and their multipliers. [Model.AddLinks] goes on with more of them, at the
// bounds of the first fit, to the nearest K for the prior M that was learned, which stays: a change
// of M would make a start from multipliers unsafe.
package gml

import (
	"math"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/basis"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/param"
)

// Method is the name of this method in the catalog and in model files.
const Method = "gml"

// DefaultKernel is the kernel in whose feature space a Learner without one looks for points near
// each other.
const DefaultKernel = graphkernel.DefaultKernel

// Prior is the family of the matrix to stay near to.
type Prior string

// The priors.
const (
	RBF      Prior = "rbf"
	Spectral Prior = "spectral"
	DataDep  Prior = "datadep"
)

// Laplacian is that of the graph.
type Laplacian string

// The Laplacians: D - S, and I - D^-1/2 S D^-1/2.
const (
	Unnormalized Laplacian = "unnormalized"
	Normalized   Laplacian = "normalized"
)

// Basis says whose vectors the spectral and the data-dependent prior weigh.
type Basis = basis.Kind

// The bases: the eigenvectors of the graph's Laplacian, those of locally linear embedding and of
// Isomap.
const (
	FromLaplacian Basis = basis.Laplacian
	FromLLE       Basis = basis.LLE
	FromIsomap    Basis = basis.Isomap
)

// Extension says how the spectral prior places new points.
type Extension string

// The extensions: by the weights that reconstruct a point from its neighbors, and by the formula of
// Nystrom for the eigenvectors of the Laplacian.
const (
	Barycentric Extension = "barycentric"
	Nystrom     Extension = "nystrom"
)

// About says what the method is.
var About = algorithms.About{
	Name:            Method,
	Title:           "GML",
	Summary:         "geometry-aware metric learning: LogDet projections whose prior, a Gaussian kernel or a graph's spectrum, is learned",
	Paper:           "Lu, Jain & Dhillon, Geometry-aware metric learning, ICML 2009",
	DefaultKernel:   DefaultKernel,
	UsesCannotLinks: true,
	Pairwise:        true,
}

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	Prior Prior `json:"prior" param:"prior" default:"rbf" choices:"rbf (a Gaussian kernel of learned width),spectral (eigenvectors of the Laplacian of a graph),datadep (a kernel that they deform)" help:"matrix to stay near to"`
	// Width changes little in the rounds. Objectives of two widths cannot be compared where bounds
	// are percentiles: of a narrow kernel all distances are alike, and so are the bounds, which then
	// cost nothing to keep and teach nothing.
	Width float64 `json:"width" param:"width" default:"1" range:"> 0" help:"width of the Gaussian kernel to begin with, relative to the mean distance of two points"`
	// Neighborhood is the graph of the spectral and the data-dependent prior: "knn", "eps" or "given".
	graphkernel.Neighborhood `default:"neighbors=10"`
	Basis                    Basis     `json:"basis" param:"basis" default:"laplacian" choices:"laplacian,lle (locally linear embedding),isomap" help:"whose eigenvectors"`
	Laplacian                Laplacian `json:"laplacian" param:"laplacian" default:"unnormalized" choices:"unnormalized,normalized" help:"Laplacian of the graph"`
	Diffusion                float64   `json:"diffusion" param:"diffusion" default:"0.1" range:"> 0" help:"t of the first weights exp(-t mu) of the eigenvectors"`
	Rank                     int       `json:"rank" param:"rank" range:">= 2" zero:"a tenth of the points, at most 40" help:"eigenvectors of the graph"`
	Gamma                    float64   `json:"gamma" param:"gamma" default:"1" range:"> 0" help:"weight of the links against the prior (0.1 to 10 are usual)"`
	// Upper and Lower are bounds under the first M.
	logdetmetric.BoundRules
	// FreeConstant is for eigenvectors that enter no distance.
	FreeConstant bool `json:"free_constant" param:"free_constant" help:"true leaves weights of constant eigenvectors out of the order of weights"`
	// Extension by Nystrom's formula is for graphs of nearest neighbors and their Laplacians.
	Extension Extension `json:"extension" param:"extension" default:"barycentric" choices:"barycentric,nystrom" help:"coordinates of new points for prior=spectral"`
	Outer     int       `json:"outer" param:"outer" default:"5" range:">= 1" help:"most rounds of kernel and prior"`
	Tol       float64   `json:"tol" param:"tol" default:"0.001" range:"> 0" help:"change that ends the projections of a round, and the rounds"`
	MaxIter   int       `json:"max_iter" param:"max_iter" default:"20" range:">= 1" help:"most sweeps of a round"`
	Dims      int       `json:"dims" param:"dims" zero:"all" help:"columns of the embedding but for prior=spectral"`
}

// DefaultParams returns a Gaussian prior as wide as the mean distance, gamma = 1, the 5th and the
// 95th percentile.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	if err := param.Validate(p); err != nil {
		return err
	}
	if err := p.Neighborhood.Check(math.MaxInt); err != nil {
		return err
	}
	if err := p.BoundRules.Check(); err != nil {
		return err
	}
	switch {
	case p.Prior != RBF && p.Graph == graphkernel.Dense:
		return &fault.ParamError{Param: "graph", Value: string(p.Graph), Want: "knn, eps:R or @FILE for priors of a graph"}
	case p.Extension == Nystrom && (p.Prior != Spectral || p.Basis != FromLaplacian || p.Graph != graphkernel.KNN):
		return &fault.ParamError{Param: "extension", Value: string(p.Extension), Want: "barycentric but for prior=spectral, basis=laplacian, graph=knn"}
	}
	return nil
}
