// Package gml learns a kernel by LogDet projections whose prior is adapted to the data:
// geometry-aware metric learning (Lu, Jain & Dhillon, "Geometry-aware metric learning", ICML 2009).
//
// # Problem
//
// Over the positive semidefinite K and the matrices M of a family that describes the shape of the
// data, minimize
//
//	D(K, M) + gamma D(diag xi, diag xi0),   D(K, M) = tr(K M^+) - log det(K M^+) - rank
//
// such that the squared distances of K are at most xi for must-links and at least xi for
// cannot-links; xi0 has the bounds upper and lower. The slack of a link is multiplied by its
// weight.
//
// # Method
//
// The fit alternates between K and M. For a given M, K is computed as in package itml: by cyclic
// projections, and Newton's method where they are slow (solvers/logdet). For a given K, M is the
// best matrix of its family:
//
//   - spectral (3): M = sum_i alpha_i v_i v_i', where the v_i are the eigenvectors of the graph's
//     Laplacian for the smallest eigenvalues mu_i and alpha falls. It begins with
//     alpha_i = exp(-t mu_i). In the coordinates of M, K is a matrix A, r x r, and the best alpha
//     is the isotonic regression of alpha_i A_ii: a mean for every pooled block
//     (optimize.Rising).
//   - datadep (5): M = (S^-1 + V diag(theta) V')^-1, a kernel matrix S that these eigenvectors
//     deform, 0 <= theta_1 <= theta_2 and so on. The best theta solves a convex problem with r
//     unknowns, by projected gradients whose projections are isotonic regressions.
//   - rbf (6): M = alpha (R + ridge I), where R is a Gaussian kernel matrix of the linked points.
//     For a given width, alpha is tr(K R^-1) / m, and the width minimizes
//     m log tr(K R^-1) + log det R, a search in one dimension. The alternation moves the width
//     slowly, so the initial width matters.
//
// The objective falls with every round. It is not convex in K and M together. By default there is
// one round, so that M stays the first prior: five rounds take five times as long, and gain less
// than half a hundredth of the balanced Rand index on held-out rows.
//
// # New points
//
// For rbf and datadep the learned kernel of any two points is k0(x, y) - k0(x, .)' B k0(., y),
// where k0 = M for datadep and M(x, y) = s(x, y) - s_x' T' s_y. Gram and Distances compute it;
// Embed projects on some of its directions. For spectral, a new point gets the coordinates of its
// nearest training points, combined with the weights that reconstruct it from them, and its
// distances are those of the coordinates. The metric does not change.
//
// # Adding links
//
// A model stores its links and their multipliers. [Model.AddLinks] starts from them and finds the
// nearest K for all links, with the bounds of the first fit and the prior M that was learned. M
// stays fixed: after a change of M, the multipliers would not be a safe start.
package gml

import (
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/basis"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/algorithms/internal/outofsample"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/formula"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
)

// Method is the name of this method in the catalog and in model files.
const Method = "gml"

// DefaultKernel is the kernel whose feature space defines distances for a Learner without a kernel.
const DefaultKernel = graphkernel.DefaultKernel

// Prior is the family of the matrix M that K stays close to.
type Prior string

// The priors.
const (
	RBF      Prior = "rbf"
	Spectral Prior = "spectral"
	DataDep  Prior = "datadep"
)

// Laplacian is the kind of Laplacian of the graph.
type Laplacian string

// The Laplacians: D - S, and I - D^-1/2 S D^-1/2.
const (
	Unnormalized Laplacian = "unnormalized"
	Normalized   Laplacian = "normalized"
)

// Basis names the vectors that the spectral and the data-dependent prior weigh.
type Basis = basis.Kind

// The bases: the eigenvectors of the graph's Laplacian, those of locally linear embedding and of
// Isomap.
const (
	FromLaplacian Basis = basis.Laplacian
	FromLLE       Basis = basis.LLE
	FromIsomap    Basis = basis.Isomap
)

// Extension is the out-of-sample extension of the spectral prior.
type Extension string

// The extensions: by the weights that reconstruct a point from its neighbors, and by the formula of
// Nystrom for the eigenvectors of the Laplacian.
const (
	Barycentric Extension = "barycentric"
	Nystrom     Extension = "nystrom"
)

// About describes the method.
var About = algorithms.About{
	Name: Method, Title: "GML",
	Summary: "geometry-aware metric learning: LogDet projections from a Gaussian kernel or a graph's " +
		"spectrum, which stays (outer=1) or is learned, too, as in the paper (outer=5)",
	Paper:           "Lu, Jain & Dhillon, Geometry-aware metric learning, ICML 2009",
	DefaultKernel:   DefaultKernel,
	UsesCannotLinks: true, UsesTriplets: true, Pairwise: true,
}

// Params are the parameters of the method. [DefaultParams] returns the defaults.
type Params struct {
	Prior Prior `json:"prior" param:"prior" default:"rbf" choices:"rbf (a Gaussian kernel whose width is learned with outer > 1),spectral (eigenvectors of the Laplacian of a graph),datadep (a kernel that they deform)" help:"family of the matrix that the learned kernel stays close to"`
	// Width changes little in the rounds. Objectives of two widths cannot be compared if the bounds
	// are percentiles: under a narrow kernel all distances are alike, and so are the bounds, which
	// are then easy to satisfy and carry no information.
	Width float64 `json:"width" param:"width" default:"1" range:"> 0" help:"initial width of the Gaussian kernel, relative to the mean distance of two points"`
	// Neighborhood is the graph of the spectral and the data-dependent prior: "knn", "eps" or
	// "given".
	graphkernel.Neighborhood `default:"neighbors=10"`
	Basis                    Basis     `json:"basis" param:"basis" default:"laplacian" choices:"laplacian,lle (locally linear embedding),isomap" help:"basis of the prior: the eigenvectors of this matrix"`
	Laplacian                Laplacian `json:"laplacian" param:"laplacian" default:"unnormalized" choices:"unnormalized,normalized" help:"Laplacian of the graph"`
	Diffusion                float64   `json:"diffusion" param:"diffusion" default:"0.1" range:"> 0, <= 1e15" help:"t in the initial weights exp(-t mu) of the eigenvectors"`
	Rank                     int       `json:"rank" param:"rank" range:">= 2" zero:"a tenth of the points, at most 40" help:"number of eigenvectors of the graph"`
	// Landmarks are for prior=rbf with outer=1.
	logdetmetric.LandmarkRule
	Gamma float64 `json:"gamma" param:"gamma" default:"1" range:"> 0" help:"weight of the links relative to the prior (usually 0.1 to 10)"`
	// Upper and Lower are bounds on distances under the first M.
	logdetmetric.BoundRules
	// FreeConstant is for eigenvectors that do not affect distances.
	FreeConstant bool `json:"free_constant" param:"free_constant" help:"true exempts constant eigenvectors from the order of the weights"`
	// Nystrom's extension requires a graph of nearest neighbors and the basis of its Laplacian.
	Extension Extension `json:"extension" param:"extension" default:"barycentric" choices:"barycentric,nystrom" help:"out-of-sample extension for prior=spectral"`
	Outer     int       `json:"outer" param:"outer" default:"1" range:">= 1" help:"maximum number of rounds of kernel and prior; with 1 the prior stays, and the paper, with more, learns it"`
	Tol       float64   `json:"tol" param:"tol" default:"0.01" range:"> 0" help:"relative duality gap, and change of a sweep, at which a round stops, and change at which the rounds do"`
	MaxIter   int       `json:"max_iter" param:"max_iter" default:"1000" range:">= 1" help:"maximum number of sweeps and Newton steps in a round"`
	Dims      int       `json:"dims" param:"dims" default:"25" zero:"all" help:"columns of the embedding, the directions of largest variance, except for prior=spectral"`
}

// DefaultParams returns a Gaussian prior as wide as the mean distance, gamma = 1, and the 5th and
// 95th percentiles as bounds.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first invalid value.
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
		return fault.Param("graph", string(p.Graph), "knn, eps:R or @FILE for priors on a graph")
	case p.Landmarks > 0 && (p.Prior != RBF || p.Outer > 1):
		return fault.Param("landmarks", p.Landmarks, "auto or 0, except for prior=rbf with outer=1")
	case p.Extension == Nystrom &&
		(p.Prior != Spectral || p.Basis != FromLaplacian || p.Graph != graphkernel.KNN):
		return fault.Param("extension", string(p.Extension),
			"barycentric, except for prior=spectral with basis=laplacian and graph=knn")
	}
	return nil
}

// Model is a fitted metric. It is immutable and safe for concurrent use. For the priors rbf and
// datadep, Embed, documented at [algorithms.Model], costs the kernel values of a point with the m
// stored points and 2 m Dim flops; Gram and Distances cost those with the l linked points and 4 l^2
// flops (with all m points and 2 m l more for datadep), and are those of the learned kernel itself.
// For the spectral prior they are exact for the training points, whose coordinates are stored; a
// new point costs its distances to all of them and 2 k Dim flops for k neighbors.
type Model struct {
	*fitted.Traced[Params] // the objective of every round, which falls
	kept
	// nil if the model, or the file that it was read from, does not store the state for AddLinks
	warm *logdetmetric.WarmStart
}

// kept is what a model stores in addition to its map.
type kept struct {
	about   about
	weights []float64 // alpha of the spectral prior, theta of the data-dependent one
	// L of A = L L' for the spectral prior: coordinates are the rows of G L; empty if the file has
	// none
	factor blas.Matrix
}

var _ algorithms.Linker = (*Model)(nil)

// about is what the header has in addition to parameters, kernel, map and constraints.
type about struct {
	logdetmetric.Outcome
	Alpha float64 `json:"alpha,omitempty"` // of the rbf prior
}

const (
	tensorWeights = "gml.weights" // [r], of priors with eigenvectors
	// [r, r], of the spectral prior, lower triangle; not in files of earlier versions
	tensorFactor = "gml.factor"
)

// Links returns the links that the model was fitted on, nil if it does not store them.
func (m *Model) Links() *links.Set { return m.warm.Known() }

// Residual returns the largest residual of the conditions of the optimum for the last prior.
func (m *Model) Residual() float64 { return m.about.Residual }

// Weights returns the weights of the eigenvectors: alpha of the spectral prior, which falls, or
// theta of the data-dependent one, which rises; nil for rbf.
func (m *Model) Weights() []float64 { return slices.Clone(m.weights) }

// Spectra returns the weights of the eigenvectors.
func (m *Model) Spectra() []algorithms.Spectrum {
	if m.weights == nil {
		return nil
	}
	return []algorithms.Spectrum{{Name: "weights of the Laplacian's eigenvectors", Values: m.Weights()}}
}

// Describe returns the statistics of the model.
func (m *Model) Describe() []algorithms.Statistic {
	statistics := append([]algorithms.Statistic{
		{Name: "prior", Value: string(m.Params().Prior)},
		{Name: "kernel", Value: m.Kernel().String()},
		{Name: "dim", Value: m.Dim()},
		{Name: "objective", Value: m.Objective()},
	}, m.about.Describe()...)
	if m.weights != nil {
		statistics = append(statistics,
			algorithms.Statistic{Name: "weights of the eigenvectors", Value: m.weights})
	}
	return append(statistics, m.Held()...)
}

// Formula returns the map as data, for the priors rbf and datadep; the spectral one is a
// *fault.ParamError.
func (m *Model) Formula() (formula.Map, error) {
	if p := m.Params().Prior; p == Spectral {
		return nil, fault.Param("prior of the model", string(p),
			"rbf or datadep for a formula for new rows: fit gml again with prior=rbf")
	}
	return m.Map.Formula()
}

// Encode stores the model in f.
func (m *Model) Encode(f *model.File) error {
	if m.factor.Data != nil {
		fitted.SetMatrix(f, tensorFactor, m.factor)
	}
	if m.weights != nil {
		f.SetFloat64s(tensorWeights, m.weights)
	}
	return m.EncodeWith(f, m.about, m.warm.Encode(f, Method))
}

// Decode rebuilds the model that [Model.Encode] stored. An invalid tensor or header is a
// *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m := &Model{}
	var err error
	if m.Traced, err = fitted.DecodeTraced[Params](Method, f, read, &m.about); err != nil {
		return nil, err
	}
	if m.Params().Prior != RBF {
		if m.weights, err = fitted.ReadFinite(f, tensorWeights, -1); err != nil {
			return nil, err
		}
	}
	if m.warm, err = logdetmetric.DecodeWarmStart(f, Method); err != nil {
		return nil, err
	}
	return m, m.decodeFactor(f)
}

// read reads the maps of all priors.
func read(method string, f *model.File) (*fitted.Map, error) {
	var p Params
	if err := fitted.ReadParams(f, &p); err != nil {
		return nil, err
	}
	if p.Prior != Spectral {
		return fitted.ReadExpansion(method, f)
	}
	if m, err := outofsample.ReadNystrom(method, f); m != nil || err != nil {
		return m, err
	}
	return outofsample.ReadBarycentric(method, f)
}

// decodeFactor reads the factor of the spectral prior. Without it, links cannot be added to the
// model.
func (m *Model) decodeFactor(f *model.File) (err error) {
	if m.Params().Prior != Spectral {
		return nil
	}
	if !f.Has(tensorFactor) {
		m.warm = nil
		return nil
	}
	if m.factor, err = fitted.ReadMatrix(f, tensorFactor, m.Dim(), m.Dim()); err != nil {
		return err
	}
	for i := range m.factor.Rows {
		if v := m.factor.At(i, i); !(v > 0) {
			return fault.Data("", "tensor %s: diagonal element %d is %g: want a number > 0", tensorFactor, i,
				v)
		}
	}
	return nil
}
