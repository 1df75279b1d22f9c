package nonlinear

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/bandwidth"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/lle"
)

// LLMA learns a metric that is approximately linear near every
// point, but not globally: locally linear metric adaptation, the spectral method (after Chang &
// Yeung, "Locally linear metric adaptation for semi-supervised clustering", ICML 2004, and "...
// with application to semi-supervised clustering and image retrieval", Pattern Recognition 39,
// 2006). A baseline.
//
// The coordinates of a point are
//
//	y(x) = B x + sum_a exp(-|x - a|^2 / (2 sigma^2)) b_a
//
// a linear map plus Gaussian windows around linked points a, the anchors. The map is chosen among
// those with uncorrelated directions of variance 1 (with a ridge): it minimizes the distances of
// must-linked points and the error of reconstructing each point from its neighbors,
//
//	mean over must-links of |y_i - y_j|^2 + lambda mean over points of |y_i - sum_j w_ij y_j|^2
//
// with the weights w that reconstruct x_i from its nearest neighbors. This is a generalized
// eigenproblem with as many unknowns as there are directions and anchors together. By default, the
// map keeps the directions, at most 20, in which this sum is below (1 + lambda) / 4: along the
// others must-linked points are not near each other, so they are noise to k-means. If fewer than
// two are below, it keeps 20. Cannot-links are not used.
//
// The fields are the parameters of the method.
type LLMA struct {
	Sigma string `json:"sigma" param:"sigma" default:"0.5mean" help:"width of the windows: a number or a rule"`
	// Anchors are drawn at random from the must-linked points. With windows around most of them,
	// the map fits the training points so well that the links no longer say which directions hold
	// noise.
	Anchors   int     `json:"anchors" param:"anchors" zero:"a third of the must-linked points, at most 50" help:"maximum number of must-linked points with a window"`
	Lambda    float64 `json:"lambda" param:"lambda" default:"1" range:">= 0, <= 1e15" help:"weight of the reconstruction error relative to the links"`
	Neighbors int     `json:"neighbors" param:"neighbors" default:"10" range:">= 1" help:"number of neighbors that reconstruct each point"`
	Ridge     float64 `json:"ridge" param:"ridge" default:"0.001" range:">= 1e-15, <= 1e6" help:"regularization relative to the mean variance of the unknowns"`
	// Dims cannot exceed the number of directions and anchors together.
	Dims    int     `json:"dims" param:"dims" zero:"those that the links support, at most 20" help:"maximum number of directions"`
	RankTol float64 `json:"rank_tol" param:"rank_tol" default:"1e-10" range:">= 0, < 1" help:"relative variance up to which a principal direction counts as constant"`
}

// Validate returns a *fault.ParamError for the first invalid value.
func (p LLMA) Validate() error {
	if err := param.Validate(p); err != nil {
		return err
	}
	if _, err := p.kernel(); err != nil {
		return fault.Param("sigma", p.Sigma, "a number > 0 or a rule, such as 0.5mean")
	}
	return nil
}

func (p LLMA) kernel() (kernel.Spec, error) { return kernel.Parse("rbf:sigma=" + p.Sigma) }

// LLMALearner learns from the must-links on n dense points of d features. The result has the type
// *[LLMAModel]. As many neighbors as points and more directions than unknowns are errors.
//
// Cost for q unknowns (directions and anchors): the nearest neighbors, n q^2 flops, and q^3.
type LLMALearner = learner.Learner[LLMA]

// Rules returns what the method requires of its input.
func (LLMA) Rules() learner.Rules {
	return learner.Rules{Needs: learner.MustLinks, Pairs: true, About: algorithms.About{
		Name: LLMAMethod, Title: "LLMA",
		Summary: "locally linear metric adaptation, spectral: a linear map plus Gaussian windows around " +
			"linked points",
		Paper:  "Chang & Yeung, Locally linear metric adaptation for semi-supervised clustering, ICML 2004",
		Linear: true, Pairwise: true, Baseline: true,
	}}
}

// Learn fits the method.
func (p LLMA) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	if n := f.Dense.N; p.Neighbors >= n {
		return nil, fault.Param("neighbors", p.Neighbors, "a number below %d, the number of points", n)
	}
	all, parts, err := p.family(ctx, f)
	if err != nil {
		return nil, err
	}
	p.Dims = min(p.Dims, all.Cols)
	f.Report(algorithms.Progress{Stage: "neighbors", Total: 2})
	n, err := p.energy(ctx, f, all)
	if err != nil {
		return nil, err
	}
	f.Report(algorithms.Progress{Stage: "directions", Done: 1, Total: 2})
	a, err := p.directions(ctx, f.Eng, all, n)
	if err != nil {
		return nil, err
	}
	return &LLMAModel{fitted.New(bent(f.Eng, parts, a), p, f.Direct())}, nil
}

// parts are the components of a map.
type parts struct {
	principal *linear.Principal
	window    kernel.Kernel
	anchors   points.Points
	means     []float64 // of the unknowns
}

// family returns the unknowns of all points, n x q, and the parts that they are made of.
func (p LLMA) family(ctx context.Context, f *learner.Fit) (all blas.Matrix, out parts, err error) {
	eng, x := f.Eng, f.Dense
	spec, err := p.kernel()
	if err != nil {
		return all, out, err
	}
	if spec, err = bandwidth.Resolve(ctx, eng, spec, x); err != nil {
		return all, out, err
	}
	if out.window, err = kernel.New(spec); err != nil {
		return all, out, err
	}
	if out.principal, err = linear.NewPrincipal(ctx, eng, x, p.RankTol); err != nil {
		return all, out, err
	}
	out.anchors = x.Select(p.anchors(f.Links, f.Seed))
	all, out.means, err = unknowns(ctx, eng, out.principal, out.window, x, out.anchors)
	return all, out, err
}

// anchors returns the must-linked rows with a window, in ascending order.
func (p LLMA) anchors(set *links.Set, seed uint64) []int {
	var rows []int
	for _, c := range set.Chunklets() {
		rows = append(rows, c...)
	}
	rng := rand.New(rand.NewPCG(seed, 0x6c6c6d61))
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	number := p.Anchors
	if number == 0 {
		number = min(50, (len(rows)+2)/3)
	}
	rows = rows[:min(len(rows), number)]
	slices.Sort(rows)
	return rows
}

// unknowns returns the functions that the map combines, n x q with centered columns: principal
// coordinates and windows. It also returns the means of the columns before centering.
func unknowns(ctx context.Context, eng *engine.Engine, p *linear.Principal, k kernel.Kernel, x,
	anchors points.Points) (f blas.Matrix, means []float64, err error) {
	n, d := x.Len(), p.Z.Cols
	if err := eng.Check("windows of all points", 3*engine.MatrixBytes(n, d+anchors.Len()),
		"use fewer anchors"); err != nil {
		return f, nil, err
	}
	f = eng.NewMatrix(n, d+anchors.Len())
	windows, err := k.Cross(ctx, eng, x, anchors)
	if err != nil {
		return f, nil, err
	}
	for i := range n {
		copy(f.Row(i)[:d], p.Z.Row(i))
		copy(f.Row(i)[d:], windows.Row(i))
	}
	return f, linear.Center(f), nil
}

// energy returns the matrix of the objective, q x q, lower triangle.
func (p LLMA) energy(ctx context.Context, f *learner.Fit, all blas.Matrix) (blas.Matrix, error) {
	eng, x, must, out := f.Eng, f.Dense, f.Links.Must(), blas.NewMatrix(all.Cols, all.Cols)
	near, err := graph.Nearest(ctx, eng, kernel.Linear(), x, p.Neighbors)
	if err != nil {
		return out, err
	}
	w, err := lle.Weights(ctx, eng, x.N, near.K, lle.OfVectors(eng, x, near.Index, near.K),
		lle.DefaultRegularization)
	if err != nil {
		return out, err
	}
	var d linear.Differences
	d.AddLinks(must, 1/float64(len(must)))
	d.AddResiduals(near, w, p.Lambda/float64(x.N))
	return out, d.Scatter(ctx, eng, all, out)
}

// most is the largest number of directions that are chosen by their energy, and short is the energy
// below which a direction is chosen, in units of 1 + lambda. The variance of a direction is 1, so
// two points are at the mean squared distance 2 along it.
const (
	llmaMost = 20
	short    = 0.25
)

// count returns the number of directions to keep of those with the energies w, which rise: Dims, or
// those of little energy. If there are fewer than two of them, the links do not tell directions
// apart, and it is as many as allowed.
func (p LLMA) count(w []float64) int {
	if p.Dims > 0 {
		return min(p.Dims, len(w))
	}
	k, all := 0, min(llmaMost, len(w))
	for k < all && w[k] < short*(1+p.Lambda) {
		k++
	}
	if k < 2 {
		return all
	}
	return k
}

// directions returns A, q x dims: the eigenvectors of N a = w (F'F / n + ridge) a for the smallest
// w. Eigenvectors that only the ridge keeps from having no variance are none: with more unknowns
// than points, both matrices vanish on them.
func (p LLMA) directions(ctx context.Context, eng *engine.Engine, f, n blas.Matrix) (blas.Matrix, error) {
	q, b := f.Cols, blas.NewMatrix(f.Cols, f.Cols)
	eng.Backend().Syrk(true, 1/float64(f.Rows), f, 0, b)
	ridge := p.Ridge * b.Trace() / float64(q)
	b.Shift(ridge)
	if err := eng.Cholesky(ctx, b); err != nil {
		return b, err
	}
	eng.Mirror(n)
	eng.Backend().Trsm(true, false, b, n) // L^-1 N L'^-1
	eng.Backend().Trsm(false, true, b, n)
	w := make([]float64, q)
	if err := eng.SymEig(ctx, n, w, true); err != nil {
		return b, err
	}
	all := blas.NewMatrix(q, q) // a column for each eigenvector
	n.TransposeTo(all)
	eng.Backend().Trsm(true, true, b, all)
	var kept []int
	var energy []float64
	for k := range q {
		if variance := 1 - ridge*squaredLength(all, k); variance > leastVariance {
			kept, energy = append(kept, k), append(energy, w[k])
		}
	}
	if len(kept) == 0 {
		return b, fault.Param("ridge", p.Ridge,
			"a smaller number, since no direction of the points has more than it")
	}
	a := blas.NewMatrix(q, p.count(energy))
	for i := range q {
		for c, k := range kept[:a.Cols] {
			a.Set(i, c, all.At(i, k))
		}
	}
	return a, nil
}

// leastVariance is the variance, without the ridge, below which a direction has none but rounding.
const leastVariance = 1e-8

// squaredLength returns the squared length of a column.
func squaredLength(a blas.Matrix, column int) float64 {
	sum := 0.0
	for i := range a.Rows {
		sum += a.At(i, column) * a.At(i, column)
	}
	return sum
}

// LLMAModel is a linear map plus Gaussian windows. It is immutable and safe for concurrent use.
// Embed, Gram and Distances, documented at [algorithms.Model], cost one window per anchor and 2 (d
// + anchors) Dim flops per point; Kernel is the window.
type LLMAModel struct{ *fitted.Model[LLMA] }

// bent returns the map y = A' (f(x) - means), where f has the unknowns.
func bent(eng *engine.Engine, p parts, a blas.Matrix) *fitted.Map {
	d, dims := p.principal.Z.Cols, a.Cols // principal coordinates have mean 0
	b, v := blas.NewMatrix(dims, d), blas.NewMatrix(dims, p.anchors.Len())
	for r := range dims {
		for c := range d {
			b.Set(r, c, a.At(c, r))
		}
		for c := range p.anchors.Len() {
			v.Set(r, c, a.At(d+c, r))
		}
	}
	center := make([]float64, dims)
	eng.Backend().Gemv(false, 1, v, p.means[d:], 0, center)
	return fitted.Sum(p.principal.Map(eng, LLMAMethod, b),
		fitted.NewExpansion(LLMAMethod, p.window, p.anchors, v, center))
}

// Describe returns the statistics of the model.
func (m *LLMAModel) Describe() []algorithms.Statistic {
	return []algorithms.Statistic{
		{Name: "window", Value: m.Inner().Kernel().String()},
		{Name: "anchors", Value: m.Support()},
		{Name: "dim", Value: m.Dim()},
	}
}

// DecodeLLMA rebuilds a model from its file. An invalid tensor or header is a *fault.DataError.
func DecodeLLMA(f *model.File) (*LLMAModel, error) {
	m, err := fitted.Decode[LLMA](LLMAMethod, f, fitted.ReadSum)
	return &LLMAModel{m}, err
}
