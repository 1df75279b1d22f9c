package gml

import (
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/basis"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/engine/fault"
)

// Method is the name of this method in the catalog and in model files.
const Method = "gml"

// DefaultKernel is the kernel in whose feature space a Learner without one looks for points near each other.
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

// The bases: the eigenvectors of the graph's Laplacian, those of locally linear embedding and of Isomap.
const (
	FromLaplacian Basis = basis.Laplacian
	FromLLE       Basis = basis.LLE
	FromIsomap    Basis = basis.Isomap
)

// Extension says how the spectral prior places new points.
type Extension string

// The extensions: by the weights that reconstruct a point from its neighbours, and by the formula of Nystrom for the
// eigenvectors of the Laplacian.
const (
	Barycentric Extension = "barycentric"
	Nystrom     Extension = "nystrom"
)

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	Prior Prior `json:"prior"`
	// Width is that of the Gaussian prior to begin with, relative to the mean distance of two points, > 0. The rounds change it
	// little. Objectives of two widths cannot be compared where bounds are percentiles: of a narrow kernel all distances are
	// alike, and so are the bounds, which then cost nothing to keep and teach nothing.
	Width float64 `json:"width"`
	// Neighbourhood is the graph of the spectral and the data-dependent prior: "knn", "eps" or "given".
	graphkernel.Neighbourhood
	Laplacian Laplacian `json:"laplacian"`
	Basis     Basis     `json:"basis"`
	// Extension is that of the spectral prior; Nystrom's is for graphs of nearest neighbours and their Laplacians.
	Extension Extension `json:"extension"`
	// FreeConstant leaves the weights of constant eigenvectors, which enter no distance, out of the order of alpha.
	FreeConstant bool `json:"free_constant"`
	// Diffusion is t of the first alpha_i = exp(-t mu_i), > 0.
	Diffusion float64 `json:"diffusion"`
	// Rank is the number of eigenvectors of the graph, at least 2; 0 for a tenth of the points, at most 40.
	Rank int `json:"rank"`
	// Gamma weighs the bounds against the prior, > 0.
	Gamma float64 `json:"gamma"`
	// Upper and Lower are the bounds of squared distances under the first M.
	logdetmetric.Target
	// Outer is the most rounds of K and M, at least 1.
	Outer int `json:"outer"`
	// Tol ends the projections of a round, as in package itml, and the rounds: a thousandth by default, > 0.
	Tol float64 `json:"tol"`
	// MaxIter is the most sweeps of a round, at least 1.
	MaxIter int `json:"max_iter"`
	// Dims is the number of columns of Embed but for the spectral prior, 0 for all.
	Dims int `json:"dims"`
}

// DefaultParams returns a Gaussian prior as wide as the mean distance, gamma = 1, the 5th and the 95th percentile.
func DefaultParams() Params {
	return Params{
		Prior: RBF, Width: 1, Neighbourhood: graphkernel.Neighbourhood{Graph: graphkernel.KNN, Neighbors: 10}, Laplacian: Unnormalized,
		Basis: FromLaplacian, Extension: Barycentric, Diffusion: 0.1, Gamma: 1, Target: logdetmetric.DefaultTarget(), Outer: 5, Tol: 1e-3, MaxIter: 20,
	}
}

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error {
	if err := p.Neighbourhood.Check(math.MaxInt); err != nil {
		return err
	}
	if err := p.Target.Check(); err != nil {
		return err
	}
	for _, v := range []struct {
		name  string
		value float64
	}{{"width", p.Width}, {"diffusion", p.Diffusion}, {"gamma", p.Gamma}, {"tol", p.Tol}} {
		if err := input.Positive(v.name, v.value); err != nil {
			return err
		}
	}
	switch {
	case p.Prior != RBF && p.Prior != Spectral && p.Prior != DataDep:
		return fault.Unknown("prior", string(p.Prior), []string{string(RBF), string(Spectral), string(DataDep)})
	case p.Prior != RBF && p.Graph == graphkernel.Dense:
		return &fault.ParamError{Param: "graph", Value: string(p.Graph), Want: "knn, eps:R or @FILE for priors of a graph"}
	case p.Laplacian != Unnormalized && p.Laplacian != Normalized:
		return fault.Unknown("laplacian", string(p.Laplacian), []string{string(Unnormalized), string(Normalized)})
	case !slices.Contains(basis.Kinds(), string(p.Basis)):
		return fault.Unknown("basis", string(p.Basis), basis.Kinds())
	case p.Extension != Barycentric && p.Extension != Nystrom:
		return fault.Unknown("extension", string(p.Extension), []string{string(Barycentric), string(Nystrom)})
	case p.Extension == Nystrom && (p.Prior != Spectral || p.Basis != FromLaplacian || p.Graph != graphkernel.KNN):
		return &fault.ParamError{Param: "extension", Value: string(p.Extension), Want: "barycentric but for prior=spectral, basis=laplacian, graph=knn"}
	case p.Rank < 0 || p.Rank == 1:
		return &fault.ParamError{Param: "rank", Value: p.Rank, Want: "an integer >= 2 (0: a tenth of the points, at most 40)"}
	case p.Outer < 1:
		return &fault.ParamError{Param: "outer", Value: p.Outer, Want: "an integer >= 1"}
	case p.MaxIter < 1:
		return &fault.ParamError{Param: "max_iter", Value: p.MaxIter, Want: "an integer >= 1"}
	case p.Dims < 0:
		return &fault.ParamError{Param: "dims", Value: p.Dims, Want: "an integer >= 0 (0: all directions)"}
	}
	return nil
}
