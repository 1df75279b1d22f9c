package nonlinear

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/fitted"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/learner"
	"github.com/mustlink/mustlink/algorithms/internal/outofsample"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/model"
	"github.com/mustlink/mustlink/engine/param"
	"github.com/mustlink/mustlink/engine/sparse"
	"github.com/mustlink/mustlink/solvers/operator"
)

// CMVU computes an embedding that keeps the distances between
// neighbors, and in which must-linked points share directions of large variance: colored maximum
// variance unfolding (Song, Smola, Borgwardt & Gretton, NIPS 20, 2007), in its low-rank form
// (Weinberger, Sha, Zhu & Saul, NIPS 19, 2006). A baseline of gml.
//
// V has the r smoothest eigenvectors of the graph's Laplacian that are not constant. The kernel
// matrix is K = V A V', where A is positive semidefinite and minimizes
//
//	nu mean_e (d_e(K) - d_e)^2 - tr(K H L H) / sum(L)
//
// over the edges e of the graph; the d_e are squared distances in units of their mean. L is 1 for
// two points of one must-link component and for a point with itself, and 0 otherwise. The second
// term is the mean squared distance between the mean of a component and the mean of all points.
// Without links it is the variance, and the method is maximum variance unfolding. Cannot-links are
// not used.
//
// # Method
//
// In the coordinates U = V diag(mu)^-1/2 the quadratic term has a Hessian near the identity,
// because sum_e (v_i - v_j)(v_i - v_j)' = diag(mu). Accelerated projected gradients (Beck &
// Teboulle 2009, with the restarts of O'Donoghue & Candes 2015) find A in about a hundred steps. A
// step takes 4 r^2 flops per edge and an eigendecomposition of order r. The search stops by the
// residual of the optimality conditions: G positive semidefinite and tr(G A) = 0 for the gradient
// G.
//
// A new point gets the coordinates of its nearest training points, combined with the weights that
// reconstruct it from them.
//
// The fields are the parameters of the method.
type CMVU struct {
	// Neighborhood is the graph: "knn", "eps" or "given". Heat weighs edges by their lengths.
	graphkernel.Neighborhood `default:"neighbors=10"`
	Rank                     int `json:"rank" param:"rank" zero:"a tenth of the points, at most 20" help:"number of eigenvectors of the graph"`
	// Penalty is nu in units of the largest gain of the second term at a mean distance of 1.
	Penalty float64 `json:"penalty" param:"penalty" default:"10" range:">= 1e-15, <= 1e15" help:"weight of the neighbor distances, which grow by about 1 / (2 penalty)"`
	Dims    int     `json:"dims" param:"dims" zero:"all" help:"columns of the embedding: the directions of largest variance"`
	// Tol is relative to that gain, and to nu.
	Tol     float64 `json:"tol" param:"tol" default:"1e-05" range:"> 0" help:"the search stops at this residual of the optimality conditions"`
	MaxIter int     `json:"max_iter" param:"max_iter" default:"2000" range:">= 1" help:"maximum number of steps"`
}

// Validate returns a *fault.ParamError for the first invalid value.
func (p CMVU) Validate() error { return graphkernel.ValidateSparse(p, p.Neighborhood) }

// CMVULearner embeds the points with the must-links between them; cannot-links are not used, and
// links are optional. The result has the type *[CMVUModel]. Its Kernel defines the feature space of
// the distances; the zero Spec means linear. As many eigenvectors as points, and neighbors
// that all coincide, are errors.
//
// Cost: the nearest neighbors, r eigenvectors of their graph, and 4 r^2 flops per edge and step.
type CMVULearner = learner.Learner[CMVU]

// Rules returns what the method requires of its input.
func (CMVU) Rules() learner.Rules {
	return learner.Rules{About: algorithms.About{
		Name: CMVUMethod, Title: "CMVU",
		Summary: "colored maximum variance unfolding, low rank: pictures that keep the distances of " +
			"neighbors, a baseline of gml",
		Paper:         "Song, Smola, Borgwardt & Gretton, Colored maximum variance unfolding, NIPS 20, 2007",
		DefaultKernel: graphkernel.DefaultKernel,
		Baseline:      true, LinksOptional: true,
	}}
}

// Learn fits the method.
func (p CMVU) Learn(ctx context.Context, f *learner.Fit) (algorithms.Model, error) {
	eng, x := f.Eng, f.X
	k, err := p.In(ctx, eng, f.Kernel, x, graphkernel.DefaultKernel)
	if err != nil {
		return nil, err
	}
	f.Report(algorithms.Progress{Stage: "eigenvectors of the graph"})
	a, u, err := p.coordinates(ctx, f, k)
	if err != nil {
		return nil, err
	}
	problem, err := newCMVUProblem(ctx, eng, a, u, k, x, f.Links, p.Penalty)
	if err != nil {
		return nil, err
	}
	found, err := problem.minimize(ctx, p.Tol, p.MaxIter, f.Bounded("steps", p.MaxIter))
	if err != nil {
		return nil, err
	}
	y, variances, err := problem.positions(ctx, u, found.a, p.Dims)
	if err != nil {
		return nil, err
	}
	near := param.Default[CMVU]().Neighbors
	if p.Graph == graphkernel.KNN {
		near = p.Neighbors
	}
	m, err := outofsample.NewBarycentric(ctx, eng, CMVUMethod, k, min(near, x.Len()), x, y)
	if err != nil {
		return nil, err
	}
	if _, cannot := f.Links.Count(); cannot > 0 {
		f.Notices = append(f.Notices,
			fmt.Sprintf("%s learns from must-links only: %d cannot-links are not used", CMVUMethod, cannot))
	}
	status := f.Status(algorithms.Status{Converged: found.converged, Iterations: found.steps})
	if !found.converged {
		status.Message = fmt.Sprintf(
			"%d steps brought the residual down to %.2g, not to the tolerance %g: raise max_iter or tol",
			found.steps, found.residual, p.Tol)
	}
	return &CMVUModel{fitted.New(m, p, status), variances, result{found.objective, found.residual}}, nil
}

// coordinates returns the graph and its smoothest eigenvectors that are not constant on its
// components, as columns, divided by the square roots of their eigenvalues relative to the sum of
// the edge weights.
func (p CMVU) coordinates(ctx context.Context, f *learner.Fit,
	k kernel.Kernel) (a *sparse.Matrix, u blas.Matrix, err error) {
	adjacency, _, err := p.Make(ctx, f.Eng, k, f.X, f.Similarities)
	if err != nil {
		return nil, u, err
	}
	a = adjacency.ToSparse()
	r := p.Rank
	if r == 0 {
		r = max(2, min(20, f.X.Len()/10))
	}
	_, parts := graph.Components(a)
	u, loose, err := smoothest(ctx, f, a, parts, r)
	if err != nil {
		return nil, u, err
	}
	if parts += loose; parts > 1 {
		f.Notices = []string{fmt.Sprintf(
			"the graph has %d parts, and distances between parts are not kept: more neighbors join them",
			parts)}
	}
	if loose > 0 {
		f.Notices = append(f.Notices,
			fmt.Sprintf("%d of the parts are joined only by edges of negligible weight: without heat all "+
				"edges have the same weight", loose))
	}
	return a, u, nil
}

// smoothest returns r eigenvectors of a graph with the given number of components, as columns
// divided by the square roots of their eigenvalues. An eigenvalue that is 0 up to rounding shows
// that components are joined by edges of negligible weight; it is treated like those of the
// components. loose is the number of such eigenvalues.
func smoothest(ctx context.Context, f *learner.Fit, a *sparse.Matrix, parts,
	r int) (u blas.Matrix, loose int, err error) {
	n, total, most := a.Rows, 0.0, 0.0
	for _, d := range graph.Degrees(a) {
		total += d / 2
		most = max(most, d)
	}
	nothing := float64(n) * 0x1p-52 * 2 * most // 2 most: a bound of the largest eigenvalue
	for {
		at := parts + loose
		if r+at > n {
			return u, loose, fault.Param("rank", r,
				"a number up to %d, the number of points minus the number of parts of the graph", n-at)
		}
		found, err := operator.LaplacianEigenpairs(ctx, f.Eng, a, false, at+r,
			operator.EigenOptions{Tolerance: 1e-8, Seed: f.Seed})
		if err != nil {
			return u, loose, err
		}
		for at < len(found.Values) && found.Values[at] <= nothing {
			at++
		}
		if at > parts+loose {
			loose = at - parts
			continue
		}
		u = f.Eng.NewMatrix(n, r)
		for c := range r {
			scale := math.Sqrt(total / found.Values[at+c])
			for i, v := range found.Vectors.Row(at + c) {
				u.Set(i, c, scale*v)
			}
		}
		return u, loose, nil
	}
}

// positions returns the coordinates of the points in the directions of largest variance, of unit
// times K, and the variances.
func (p *problem) positions(ctx context.Context, u, a blas.Matrix,
	most int) (y blas.Matrix, variances []float64, err error) {
	n, r := u.Rows, u.Cols
	w, root := make([]float64, r), a.Clone()
	if err := p.eng.SymEig(ctx, root, w, true); err != nil {
		return y, nil, err
	}
	for i, x := range w {
		p.eng.Backend().Kernels().Scale(math.Sqrt(p.unit*max(0, x)), root.Row(i))
	}
	whole := p.eng.NewMatrix(n, r)
	p.eng.Backend().Gemm(false, true, 1, u, root, 0, whole)
	turn := blas.NewMatrix(r, r)
	p.eng.Backend().Gemm(true, false, 1/float64(n), whole, whole, 0, turn)
	symmetrize(turn)
	if err := p.eng.SymEig(ctx, turn, w, true); err != nil {
		return y, nil, err
	}
	const nothing = 1e-12
	dims := 0
	for dims < r && (most == 0 || dims < most) && w[r-1-dims] > nothing*w[r-1] {
		dims++
	}
	if dims == 0 {
		return y, nil, fault.Data("",
			"the embedding maps all points to the same coordinates: want more links, or a larger penalty")
	}
	directions := blas.NewMatrix(dims, r)
	for c := range dims {
		variances = append(variances, w[r-1-c])
		copy(directions.Row(c), turn.Row(r-1-c))
	}
	y = p.eng.NewMatrix(n, dims)
	p.eng.Backend().Gemm(false, true, 1, whole, directions, 0, y)
	return y, variances, nil
}

// CMVUModel has the coordinates of training points and their extension to new ones. It is immutable
// and safe for concurrent use. Embed, Gram and Distances, documented at [algorithms.Model], are
// exact for the training points, whose coordinates are stored. A new point costs its distances to
// all of them, O(k^3) flops for the weights of its k neighbors, and 2 k Dim flops.
type CMVUModel struct {
	*fitted.Model[CMVU]
	variances []float64
	result    result
}

// result is the quality of the coordinates.
type result struct {
	Objective float64 `json:"objective"`
	Residual  float64 `json:"residual"`
}

const cmvuTensorVariances = "cmvu.variances" // [dims]

// Objective returns the objective, in units of the mean squared length of the graph's edges.
func (m *CMVUModel) Objective() float64 { return m.result.Objective }

// Residual returns the residual of the optimality conditions.
func (m *CMVUModel) Residual() float64 { return m.result.Residual }

// Spectra returns the variances of the directions.
func (m *CMVUModel) Spectra() []algorithms.Spectrum {
	return []algorithms.Spectrum{{Name: "variances of the directions", Values: slices.Clone(m.variances)}}
}

// Describe returns the statistics of the model.
func (m *CMVUModel) Describe() []algorithms.Statistic {
	return append(append([]algorithms.Statistic{{Name: "graph", Value: string(m.Params().Graph)}},
		m.Model.Describe()...),
		algorithms.Statistic{Name: "objective", Value: m.result.Objective},
		algorithms.Statistic{Name: "residual of the optimum's conditions", Value: m.result.Residual},
		algorithms.Statistic{Name: "variances of the directions", Value: m.variances})
}

// Encode stores the model in f.
func (m *CMVUModel) Encode(f *model.File) error {
	f.SetFloat64s(cmvuTensorVariances, m.variances)
	return m.EncodeWith(f, m.result)
}

// DecodeCMVU rebuilds the model that [CMVUModel.Encode] stored. An invalid tensor or header is a
// *fault.DataError.
func DecodeCMVU(f *model.File) (*CMVUModel, error) {
	m := &CMVUModel{}
	var err error
	if m.Model, err = fitted.Decode[CMVU](CMVUMethod, f, outofsample.ReadBarycentric, &m.result); err != nil {
		return nil, err
	}
	m.variances, err = fitted.ReadFinite(f, cmvuTensorVariances, -1)
	return m, err
}
