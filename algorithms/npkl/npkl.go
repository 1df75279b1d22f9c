// Package npkl learns a kernel matrix without a formula: non-parametric kernel learning by block
// coordinate descent (Hu, Wang & Chen, "BCDNPKL: scalable non-parametric kernel learning using
// block coordinate descent", ICML 2011).
//
// # Problem
//
// S holds the similarities of a graph of all n points, D is the diagonal matrix of its degrees,
// N = D^-1/2 S D^-1/2, and Delta = (1 + delta) I - N. The kernel matrix is the positive
// semidefinite Z that minimizes
//
//	tr(Delta Z) + C sum_ij l(t_ij Z_ij)
//
// where the sum has each link (i, j) once, t is 1 for must-links and -1 for cannot-links, and the
// loss l(f) is (1-f)^2 (sl), max(0, 1-f)^2 (shl) or 2 max(0, 1-f) (hl). A cannot-link asks for an
// inner product of at most -1: for opposite sides, not for a large distance.
//
// # Method
//
// Z = V V', where V has n rows and few columns. At an optimum, the rank r satisfies
// r(r+1)/2 <= the number of links; r is usually about the number of classes minus one. A sweep
// updates the rows one by one; each moves to the minimizer of the objective over that row alone.
// For a point without links this is the weighted mean of its neighbors. For a point with links it
// is the solution of a system of r equations (sl) or of a few such systems (shl). A sweep costs as
// much as a product with the graph, and the objective falls in every step.
//
// The points of a sparse graph are colored so that points of one color share no edge and no link;
// all workers update the rows of a color at once. In a full graph, the rows are processed in
// panels: a product of a panel with V, corrected after every row of the panel. Points without links
// can be eliminated first (the boundary form of the paper), by a Cholesky factor in full graphs and
// by conjugate gradients in sparse ones. [Plan] controls this; by default the fit takes the cheaper
// way.
//
// Sweeps converge linearly, and slowly where the optimum is flat. The latest sweeps are therefore
// extrapolated (Anderson), and a sweep from the extrapolation counts if the objective has fallen.
// This takes a fifth of the sweeps.
//
// The losses sl and shl are smooth, so their optimum can be certified: if
// G = Delta - C sum h_ij t_ij (E_ij + E_ji), h = -l'(t Z)/2, has no negative eigenvalue, then Z is
// the optimum among all matrices of any rank. The sweeps begin with more columns than the optimum
// usually has, because too few columns lead from saddle to saddle; superfluous columns shrink
// toward zero and are dropped. If G has a negative eigenvalue, its eigenvector is added to V, and
// this is repeated until no negative eigenvalue is left.
//
// # The hinge, and large C
//
// Where a loss has kinks, single rows get stuck at them: sweeps with hl itself stop a few percent
// above the optimum. Where links weigh much, rows hardly move: sweeps at C = 1e4 come to rest
// anywhere. Both kinds of problems are solved through their multipliers (augmented Lagrangian;
// Burer & Monteiro, Mathematical Programming 95, 2003). With u = 1 - t Z and a multiplier a for
// each link, the loss w l becomes
//
//	max over b of  b u - conjugate(b) - (b - a)^2 / (2 rho)
//
// where b is free (sl), at least 0 (shl), or between 0 and 2 w (hl). It is smooth and of moderate
// weight, so that sweeps minimize it; then a becomes the best b, and the sweeps go on. With a = 0
// this is the problem of a smaller C, or a hinge with a rounded kink: the rounds are a
// continuation. They end by the dual problem, to maximize sum b - conjugate(b) subject to G = Delta
// - sum b t (E_ij + E_ji) / 2 >= 0. If G has the smallest eigenvalue e < 0, then b delta / (delta -
// e) is feasible. The optimum is certified once the objective is within 10 tol of such a bound,
// relatively. That is so for hl, and for sl and shl if a link weighs more than 100 (C times its
// weight).
//
// With plain=true, the fit is Algorithm 1 of the paper instead, for all losses: points without
// links are eliminated (unless plan=full), and the rows move one by one to their minimizers, for hl
// to those of program (7). Without a given rank, hl has the largest r with r(r+1)/2 at most the
// number of links. It comes to rest where no row can improve while the others stay, without a
// certificate.
//
// # New points
//
// The paper has no out-of-sample extension. By default, new points get their coordinates by kernel
// ridge regression from the training points to theirs (outofsample.NewRidge): with the kernel
// exp(-|x - y| / w), and the width w and the ridge that predict training points left out best. With
// extension=graph, a new point x is joined to the graph by its neighbors among the training points
// and gets the coordinates that minimize the energy: sum_j s_xj / sqrt(d_x d_j) v_j / (1 + delta).
// With both, a point that equals a training point has the coordinates of that point, and the mean
// if it equals several. A graph of given similarities does not define neighbors of new points, so
// its model has coordinates for the training points only.
//
// # Clusters
//
// k-means on the coordinates is kernel k-means with Z, and needs no matrix of all pairs.
//
// # Adding links, and several values of C
//
// A model stores its links. [Model.AddLinks] fits it with additional links, starting from its
// coordinates. A [Path] starts the fit of every C from the coordinates of the next larger one. New
// points require no new fit: they get coordinates by the out-of-sample extension above, and the
// kernel matrix of the training points does not change.
package npkl

import (
	"encoding/json"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/outofsample"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
)

// Method is the name of this method in the catalog and in model files.
const Method = "npkl"

// Loss is the function that charges violated links.
type Loss = graphkernel.Loss

// The losses at f = t Z_ij.
const (
	Square       = graphkernel.Square       // (1-f)^2
	SquaredHinge = graphkernel.SquaredHinge // max(0, 1-f)^2
	Hinge        = graphkernel.Hinge        // 2 max(0, 1-f)
)

// Neighborhood describes the graph of the points: Graph, Neighbors, Radius and Heat. The paper
// takes the width of dense graphs from 10 neighbors.
type Neighborhood = graphkernel.Neighborhood

// The graphs.
const (
	KNN    = graphkernel.KNN    // an edge if either point is among the nearest neighbors of the other
	Dense  = graphkernel.Dense  // all pairs, weighted by exp(-d^2 / (2 sigma^2))
	Within = graphkernel.Within // the pairs up to a distance
	Given  = graphkernel.Given  // the pairs of Learner.Similarities
)

// Plan is the set of rows that the sweeps update. The optimum is the same for all plans.
type Plan string

// The plans.
const (
	Cheapest Plan = "auto"    // the one with fewer operations
	Whole    Plan = "full"    // all points
	Boundary Plan = "reduced" // the points with links; all others are eliminated
)

// Extension is the way that new points get their coordinates.
type Extension string

// The extensions. Given similarities say nothing of new points: their models have no extension.
const (
	Ridge     Extension = "ridge" // kernel ridge regression from points to coordinates
	FromGraph Extension = "graph" // the minimizer of the energy on the graph, from the nearest neighbors
)

// About describes the method.
var About = algorithms.About{
	Name: Method, Title: "NPKL",
	Summary: "non-parametric kernel learning by block coordinate descent on a graph of all points",
	Paper: "Hu, Wang & Chen, BCDNPKL: scalable non-parametric kernel learning using block " +
		"coordinate descent, ICML 2011",
	DefaultKernel:   DefaultKernel,
	UsesCannotLinks: true, Pairwise: true,
}

// Params are the parameters of the method. [DefaultParams] returns the defaults.
type Params struct {
	Loss         Loss    `json:"loss" param:"loss" default:"sl" choices:"sl (square),shl (squared hinge),hl (hinge)" help:"loss of violated links"`
	C            float64 `json:"C" param:"C" default:"1" range:">= 1e-15, <= 1e15" help:"weight of the links"`
	Delta        float64 `json:"delta" param:"delta" default:"0.2" range:">= 1e-15, <= 1e15" help:"added to the diagonal of the graph's normalized Laplacian (C/2 in the paper)"`
	Rank         int     `json:"rank" param:"rank" zero:"as many as the optimum needs" help:"number of dimensions"`
	Neighborhood `default:"neighbors=5"`
	Plan         Plan      `json:"plan" param:"plan" default:"auto" choices:"auto (the cheaper),full (all points),reduced (points with links)" help:"rows that the sweeps update"`
	Extension    Extension `json:"extension" param:"extension" default:"ridge" choices:"ridge (regression),graph (nearest neighbors)" help:"coordinates of new points"`
	Plain        bool      `json:"plain,omitempty" param:"plain" help:"true runs the paper's sweeps as printed: without extrapolation, and without multipliers for hl and large C"`
	// Tol is compared with the relative change of V in a sweep, and with the square root of the
	// relative change of the objective.
	Tol     float64 `json:"tol" param:"tol" default:"1e-05" range:"> 0" help:"the fit stops when a sweep changes the coordinates by less than this, relatively"`
	MaxIter int     `json:"max_iter" param:"max_iter" default:"2000" range:">= 1" help:"maximum number of sweeps"`
}

// DefaultParams returns the square loss on a graph of 5 neighbors, with adaptive rank.
func DefaultParams() Params { return param.Default[Params]() }

// UnmarshalJSON reads the parameters of a model file. Versions that wrote no extension had that of
// the graph.
func (p *Params) UnmarshalJSON(text []byte) error {
	type plain Params
	read := plain{Extension: FromGraph}
	err := json.Unmarshal(text, &read)
	*p = Params(read)
	return err
}

// Validate returns a *fault.ParamError for the first invalid value.
func (p Params) Validate() error { return graphkernel.Validate(p, p.Neighborhood) }

// Model is a fitted kernel matrix and its extension to new points. It is immutable and safe for
// concurrent use. Embed, Gram and Distances, documented at [algorithms.Model], are exact for the
// training points, whose coordinates are stored. A new point costs its distances to all training
// points, to find its neighbors in the graph, and 2 Dim flops for each neighbor. A model of given
// similarities refuses new points with a *fault.DataError.
type Model struct {
	// The objective of every sweep: it falls, except where a dimension was added. With multipliers,
	// the lowest objective after every round.
	*fitted.Traced[Params]
	links *links.Set // that the fit used
	about about
}

var _ algorithms.Linker = (*Model)(nil)

// about is the part of the header in addition to parameters and kernel.
type about struct {
	Certified bool    `json:"certified"`
	Gap       float64 `json:"gap"` // -1: unknown
}

// Links returns the links that the model was fitted on.
func (m *Model) Links() *links.Set { return m.links }

// Certified reports whether the kernel matrix was shown to be the optimum among all matrices, up to
// rounding and the tolerance.
func (m *Model) Certified() bool { return m.about.Certified }

// Spectra returns the eigenvalues of the kernel matrix.
func (m *Model) Spectra() []algorithms.Spectrum { return graphkernel.Spectra(m.Map) }

// Describe returns the statistics of the model.
func (m *Model) Describe() []algorithms.Statistic {
	result := graphkernel.Result{Objective: m.Objective(), Gap: m.about.Gap}
	return graphkernel.Describe(m.Map, m.Model.Describe(), m.Params().Loss, m.Params().Graph, result,
		algorithms.Statistic{Name: "certified optimum", Value: m.about.Certified})
}

// Encode stores the model in f.
func (m *Model) Encode(f *model.File) error {
	fitted.SetLinks(f, Method, m.links)
	return m.EncodeWith(f, m.about)
}

// Decode rebuilds the model that [Model.Encode] stored. An invalid tensor or header is a
// *fault.DataError.
func Decode(f *model.File) (*Model, error) {
	m := &Model{}
	var err error
	if m.Traced, err = fitted.DecodeTraced[Params](Method, f, readMap, &m.about); err != nil {
		return nil, err
	}
	m.links, err = fitted.ReadLinks(f, Method, m.Coordinates().Rows)
	return m, err
}

// readMap reads the table of training rows with either extension.
func readMap(method string, f *model.File) (*fitted.Map, error) {
	if m, err := outofsample.ReadRidge(method, f); m != nil || err != nil {
		return m, err
	}
	return graphkernel.Read(method, f)
}
