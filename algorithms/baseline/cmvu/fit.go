package cmvu

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/barycentric"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/record"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/sparse"
	"github.com/mustlink/mustlink/solvers/eigen"
)

// Learner fits the method. The zero value does not work: Params come from [DefaultParams].
type Learner struct {
	// Kernel says in which feature space distances are kept; the zero Spec means DefaultKernel.
	Kernel kernel.Spec
	Params Params
	// Similarities, n x n, are those of the graph named "given".
	Similarities blas.Matrix
	Seed         uint64
	Progress     algorithms.ProgressFunc
}

// New returns the learner of these parameters.
func New(p Params, c algorithms.Common) algorithms.Learner {
	return Learner{Kernel: c.Kernel, Params: p, Similarities: c.Similarities, Seed: c.Seed, Progress: c.Progress}
}

// Method returns "cmvu".
func (Learner) Method() string { return Method }

// Fit embeds the points x with the must-links of l; cannot-links are not used, and no links are fine. The result has the
// type *[Model].
//
// Cost: the nearest neighbours, r eigenvectors of their graph, and 4 r^2 flops an edge and step.
//
// Errors: parameters that [Params.Validate] refuses, as many eigenvectors as points; points with NaN or Inf, or neighbours
// all in one place; a request beyond the memory limit; ctx.Err(), wrapped.
func (l Learner) Fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (algorithms.Model, error) {
	m, err := l.fit(ctx, eng, x, set)
	return record.Result(ctx, Method+": fit", m, err)
}

func (l Learner) fit(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set) (*Model, error) {
	begin := time.Now()
	if err := l.Params.Validate(); err != nil {
		return nil, err
	}
	if err := input.Check(x, set); err != nil {
		return nil, err
	}
	k, err := l.Params.In(ctx, eng, l.Kernel, x, DefaultKernel)
	if err != nil {
		return nil, err
	}
	l.Progress.Report(algorithms.Progress{Stage: "eigenvectors of the graph", Elapsed: time.Since(begin)})
	a, u, notices, err := l.coordinates(ctx, eng, k, x)
	if err != nil {
		return nil, err
	}
	p, err := newProblem(ctx, eng, a, u, k, x, set, l.Params.Penalty)
	if err != nil {
		return nil, err
	}
	found, err := p.minimise(ctx, l.Params.Tol, l.Params.MaxIter, func(steps int, objective, residual float64) {
		l.Progress.Report(algorithms.Progress{Stage: "steps", Done: steps, Total: l.Params.MaxIter, Objective: objective, Residual: residual, Elapsed: time.Since(begin)})
	})
	if err != nil {
		return nil, err
	}
	y, variances, err := p.places(ctx, u, found.a, l.Params.Dims)
	if err != nil {
		return nil, err
	}
	near := DefaultParams().Neighbors
	if l.Params.Graph == graphkernel.KNN {
		near = l.Params.Neighbors
	}
	m, err := barycentric.New(ctx, eng, Method, k, min(near, x.Len()), x, y)
	if err != nil {
		return nil, err
	}
	status := algorithms.Status{Converged: found.converged, Iterations: found.steps, Notices: notices, Elapsed: time.Since(begin)}
	if _, cannot := set.Count(); cannot > 0 {
		status.Notices = append(status.Notices, fmt.Sprintf("%s learns from must-links only: %d cannot-links are not used", Method, cannot))
	}
	if !found.converged {
		status.Message = fmt.Sprintf("%d steps brought the residual down to %.2g, not to the tolerance %g: raise max_iter or tol", found.steps, found.residual, l.Params.Tol)
	}
	return &Model{record.New(m, l.Params, status), variances, result{found.objective, found.residual}}, ctx.Err()
}

// coordinates returns the graph and, as columns, its smoothest eigenvectors that are not constant on its parts, over the
// roots of their eigenvalues relative to the sum of the edges' weights.
func (l Learner) coordinates(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points) (a *sparse.Matrix, u blas.Matrix, notices []string, err error) {
	adjacency, _, err := l.Params.Make(ctx, eng, k, x, l.Similarities)
	if err != nil {
		return nil, u, nil, err
	}
	a = adjacency.ToSparse()
	r := l.Params.Rank
	if r == 0 {
		r = max(2, min(20, x.Len()/10))
	}
	_, parts := graph.Components(a)
	u, loose, err := l.smoothest(ctx, eng, a, parts, r)
	if err != nil {
		return nil, u, nil, err
	}
	if parts += loose; parts > 1 {
		notices = []string{fmt.Sprintf("the graph has %d parts, between which no distance is kept: more neighbors join them", parts)}
	}
	if loose > 0 {
		notices = append(notices, fmt.Sprintf("%d of the parts hang together by edges of no weight against the others: without heat all edges have one weight", loose))
	}
	return a, u, notices, nil
}

// smoothest returns r eigenvectors of a graph of so many parts, as columns over the roots of their eigenvalues. An eigenvalue that is 0 to
// rounding tells of parts that hang together by edges of next to no weight, and counts as those of the parts do: loose is their number.
func (l Learner) smoothest(ctx context.Context, eng *engine.Engine, a *sparse.Matrix, parts, r int) (u blas.Matrix, loose int, err error) {
	n, total, most := a.Rows, 0.0, 0.0
	for _, d := range graph.Degrees(a) {
		total += d / 2
		most = max(most, d)
	}
	nothing := float64(n) * 0x1p-52 * 2 * most // 2 most: a bound of the largest eigenvalue
	for {
		at := parts + loose
		if r+at > n {
			return u, loose, &fault.ParamError{Param: "rank", Value: r, Want: fmt.Sprintf("a number up to %d, the number of points less that of the graph's parts", n-at)}
		}
		found, err := eigen.Laplacian(ctx, eng, a, false, at+r, eigen.Options{Tolerance: 1e-8, Seed: l.Seed})
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
		u = eng.NewMatrix(n, r)
		for c := range r {
			scale := math.Sqrt(total / found.Values[at+c])
			for i, v := range found.Vectors.Row(at + c) {
				u.Set(i, c, scale*v)
			}
		}
		return u, loose, nil
	}
}

// places returns the points' places in the directions of largest variance, of unit times K, and the variances.
func (p *problem) places(ctx context.Context, u, a blas.Matrix, most int) (y blas.Matrix, variances []float64, err error) {
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
	symmetrise(turn)
	if err := p.eng.SymEig(ctx, turn, w, true); err != nil {
		return y, nil, err
	}
	const nothing = 1e-12
	dims := 0
	for dims < r && (most == 0 || dims < most) && w[r-1-dims] > nothing*w[r-1] {
		dims++
	}
	if dims == 0 {
		return y, nil, fault.Data("", "all points came to be in one place: want more links, or a larger penalty")
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
