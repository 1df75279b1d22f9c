// Package npkl learns a kernel matrix without a formula: non-parametric kernel learning by block
// coordinate descent (Hu, Wang & Chen, "BCDNPKL: scalable non-parametric kernel learning using
// block coordinate descent", ICML 2011).
//
// # Problem
//
// S holds the similarities of a graph of all n points, N = D^-1/2 S D^-1/2 with the degrees D, and
// Delta = (1 + delta) I - N. Of all positive semidefinite Z it is the one that minimizes
//
//	tr(Delta Z) + C sum_ij l(t_ij Z_ij)
//
// over the links (i, j), each once, t = 1 for must-links and -1 for cannot-links, and one of the
// losses l(f): (1-f)^2 (sl), max(0, 1-f)^2 (shl), 2 max(0, 1-f) (hl). A cannot-link asks for an
// inner product of at most -1: for opposite sides, not for a large distance.
//
// # Method
//
// Z = V V' with V of n rows and r columns, few: at an optimum r(r+1)/2 is at most the number of
// links, and mostly r is about the number of classes less one. A sweep goes through the rows; each
// is moved to the minimizer over it alone: for points without links the weighted mean of their
// neighbors, else a system of r equations (sl), a few of them (shl), or a small quadratic program
// in a box (hl). So every sweep costs as much as a product with the graph, and the objective falls
// in every step.
//
// On a graph of few edges the points are colored: those of a color have no edge or link among each
// other, and their rows are updated on all workers at once. Where all pairs have edges, the rows
// are taken in panels: a product of a panel with V, corrected after every row within it. Points
// without links can be eliminated first (the boundary form of the paper); [Plan] says whether, and
// by default the cheaper way is taken, for full graphs by a Cholesky factor, for sparse ones by
// conjugate gradients.
//
// Sweeps converge linearly, slowly where the optimum is flat; the latest ones are extrapolated
// (Anderson), and a sweep from there counts if the objective has fallen, which takes a fifth of the
// sweeps.
//
// sl and shl are smooth: if G = Delta - C sum h_ij t_ij (E_ij + E_ji), h = -l'(t Z)/2, has no
// negative eigenvalue then Z is the optimum among all matrices, of any rank. The sweeps begin with
// more columns than the optimum has mostly, as too few lead from saddle to saddle; superfluous ones
// die away and are dropped. If G has a negative eigenvalue, V grows by its eigenvector until there
// is none. For hl, whose objective has kinks where single rows get stuck, there is no such
// certificate; it starts from the optimum of shl, which keeps it from the worst of them (package
// baseline/npk knows the gap).
//
// # New points
//
// The paper has none. A new point x is joined to the graph by its neighbors among the training
// points and takes the place that minimizes the energy: sum_j s_xj / sqrt(d_x d_j) v_j / (1 +
// delta). A point that equals a training point to the bit has its place. A graph of given
// similarities does not say what is near a new point, so its model has places for the training
// points only.
//
// # Clusters
//
// k-means on the places is kernel k-means with Z, and needs no matrix of all pairs.
//
// # New links, many values of C
//
// A model keeps its links. [Model.AddLinks] fits it with more of them, starting from its places. A
// [Path] starts the fit of every C from the places of the next larger one. New points need nothing:
// they get their places as above, out of sample, and the kernel matrix of the training points
// stays.
package npkl

import (
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/algorithms/internal/stored"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
)

// Method is the name of this method in the catalog and in model files.
const Method = "npkl"

// Loss says how a link that is not met is charged.
type Loss = graphkernel.Loss

// The losses at f = t Z_ij.
const (
	Square       = graphkernel.Square       // (1-f)^2
	SquaredHinge = graphkernel.SquaredHinge // max(0, 1-f)^2
	Hinge        = graphkernel.Hinge        // 2 max(0, 1-f)
)

// Neighborhood says how the graph of the points is made: Graph, Neighbors, Radius and Heat. The
// paper has 10 neighbors for the width of dense graphs.
type Neighborhood = graphkernel.Neighborhood

// The graphs.
const (
	KNN    = graphkernel.KNN    // the nearest neighbors of each, either way
	Dense  = graphkernel.Dense  // all, by exp(-d^2 / (2 sigma^2))
	Within = graphkernel.Within // those up to a distance
	Given  = graphkernel.Given  // the similarities that the Learner is given
)

// Plan says which rows the sweeps go through. The optimum is the same.
type Plan string

// The plans.
const (
	Cheapest Plan = "auto"    // the one of fewer operations
	Whole    Plan = "full"    // all points
	Boundary Plan = "reduced" // the points with links, after the elimination of all others
)

// About says what the method is.
var About = algorithms.About{
	Name:            Method,
	Title:           "NPKL",
	Summary:         "non-parametric kernel learning by block coordinate descent on a graph of all points",
	Paper:           "Hu, Wang & Chen, BCDNPKL: scalable non-parametric kernel learning using block coordinate descent, ICML 2011",
	DefaultKernel:   DefaultKernel,
	UsesCannotLinks: true,
	Pairwise:        true,
}

// Params are the parameters of the method. Make them with [DefaultParams].
type Params struct {
	Loss         Loss    `json:"loss" param:"loss" default:"sl" choices:"sl (square),shl (squared hinge),hl (hinge)" help:"of links that are not met"`
	C            float64 `json:"C" param:"C" default:"1" range:"> 0" help:"weight of the links"`
	Delta        float64 `json:"delta" param:"delta" default:"0.2" range:"> 0" help:"added to the diagonal of the graph's normalized Laplacian (C/2 in the paper)"`
	Rank         int     `json:"rank" param:"rank" zero:"as many as the optimum wants" help:"dimensions"`
	Neighborhood `default:"neighbors=5"`
	Plan         Plan `json:"plan" param:"plan" default:"auto" choices:"auto (the cheaper),full (all points),reduced (those with links)" help:"rows that are swept"`
	Plain        bool `json:"plain,omitempty" param:"plain" help:"true sweeps without extrapolation, as the paper does"`
	// Tol is compared with the relative change of V in a sweep, or the root of that of the objective.
	Tol     float64 `json:"tol" param:"tol" default:"1e-05" range:"> 0" help:"relative change of the coordinates in a sweep that ends the fit"`
	MaxIter int     `json:"max_iter" param:"max_iter" default:"2000" range:">= 1" help:"most sweeps"`
}

// DefaultParams returns the square loss on a graph of 5 neighbors, with adaptive rank.
func DefaultParams() Params { return param.Default[Params]() }

// Validate returns a *fault.ParamError for the first value that cannot be used.
func (p Params) Validate() error { return graphkernel.Validate(p, p.Neighborhood) }

// Model is a fitted kernel matrix and its extension to new points. It is immutable and safe for
// concurrent use. Embed, Gram and Distances, as [algorithms.Model] has them, are exact for the
// training points, whose places are stored; a new point takes its distances to all of them, to find
// its neighbors in the graph, and 2 Dim flops for each of these. A model of given similarities
// refuses new points with a *fault.DataError.
type Model struct {
	*record.Traced[Params]            // of sweeps: the objective falls, but where a dimension was added
	links                  *links.Set // that it has learned
	about                  about
}

var _ algorithms.Linker = (*Model)(nil)

// about is what the header holds besides parameters and kernel.
type about struct {
	Certified bool    `json:"certified"`
	Gap       float64 `json:"gap"` // -1: unknown
}

// Certified says whether the kernel matrix was shown to be the optimum among all, to rounding and
// the tolerance.
func (m *Model) Certified() bool { return m.about.Certified }

// Spectra returns the eigenvalues of the kernel matrix.
func (m *Model) Spectra() []algorithms.Spectrum { return graphkernel.Spectra(m.Map) }

// Describe returns the figures of the model.
func (m *Model) Describe() []algorithms.Statistic {
	result := graphkernel.Result{Objective: m.Objective(), Gap: m.about.Gap}
	return graphkernel.Describe(m.Map, m.Model.Describe(), m.Params().Loss, m.Params().Graph, result, algorithms.Statistic{Name: "certified optimum", Value: m.about.Certified})
}

// Encode stores the model in f.
func (m *Model) Encode(f *model.File) error {
	stored.SetLinks(f, Method, m.links)
	return m.EncodeWith(f, m.about)
}

// Decode rebuilds the model that [Model.Encode] stored. A tensor or a part of the header that
// cannot be used is a *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m := &Model{}
	var err error
	if m.Traced, err = record.DecodeTraced[Params](Method, f, graphkernel.Read, &m.about); err != nil {
		return nil, err
	}
	m.links, err = stored.Links(f, Method, m.Coordinates().Rows)
	return m, err
}
