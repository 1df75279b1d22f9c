package gml

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/barycentric"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/algorithms/internal/logdetmetric"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/sparse"
	"github.com/mustlink/mustlink/solvers/eigen"
	"github.com/mustlink/mustlink/solvers/isotonic"
	"github.com/mustlink/mustlink/solvers/logdet"
)

// least is the part of the largest alpha that none is below.
const least = 1e-12

// spectral learns with the prior of a graph.
func (f *fit) spectral(ctx context.Context) (*Model, error) {
	k, err := input.Kernel(ctx, f.eng, f.Kernel, f.x, DefaultKernel)
	if err != nil {
		return nil, err
	}
	basis, err := f.basis(ctx, k)
	if err != nil {
		return nil, err
	}
	return f.alternate(ctx, k, basis)
}

// basis returns the eigenvectors of the graph of the points in the feature space of k.
func (f *fit) basis(ctx context.Context, k kernel.Kernel) (*eigen.Result, error) {
	r := f.Params.Rank
	if r == 0 {
		r = max(2, min(40, f.x.Len()/10))
	}
	if r >= f.x.Len() {
		return nil, &fault.ParamError{Param: "rank", Value: r, Want: fmt.Sprintf("a number below %d, the number of points", f.x.Len())}
	}
	adjacency, err := f.graph(ctx, k)
	if err != nil {
		return nil, err
	}
	if _, parts := graph.Components(adjacency); parts > 1 {
		f.notices = append(f.notices, fmt.Sprintf("the graph has %d parts: as many eigenvalues are 0, and their eigenvectors are the parts'; more neighbors join them", parts))
	}
	return eigen.Laplacian(ctx, f.eng, adjacency, f.Params.Laplacian == Normalized, r, eigen.Options{Tolerance: 1e-8, Seed: f.Seed})
}

// graph returns the adjacency matrix.
func (f *fit) graph(ctx context.Context, k kernel.Kernel) (*sparse.Matrix, error) {
	a, _, err := f.Params.Make(ctx, f.eng, k, f.x, f.Similarities)
	if err != nil {
		return nil, err
	}
	return a.ToSparse(), nil
}

// alternate learns K and alpha in turn.
func (f *fit) alternate(ctx context.Context, k kernel.Kernel, basis *eigen.Result) (*Model, error) {
	r, n := len(basis.Values), f.x.Len()
	alpha := make([]float64, r)
	for i, mu := range basis.Values {
		alpha[i] = math.Exp(-f.Params.Diffusion * mu)
	}
	g := blas.NewMatrix(n, r)
	coordinates := func() {
		for c := range alpha {
			alpha[c] = max(alpha[c], least*alpha[0])
			root := math.Sqrt(alpha[c])
			for i, v := range basis.Vectors.Row(c) {
				g.Set(i, c, root*v)
			}
		}
	}
	coordinates()
	var err error
	if f.bounds, f.notices, err = f.more(f.Params.Bounds(ctx, f.eng, kernel.Linear(), &points.Dense{N: n, D: r, Data: g.Data}, f.Seed)); err != nil {
		return nil, err
	}
	constraints := f.bounds.Constraints(f.set, nil)
	for {
		res, err := logdet.Rows(ctx, f.eng, g, constraints, f.options())
		if err != nil {
			return nil, err
		}
		divergence, err := f.divergence(ctx, res.A)
		if err != nil {
			return nil, err
		}
		if f.round(divergence+f.slack(res, constraints), res) {
			check := res.CheckRows(f.eng, g, constraints, f.Params.Gamma)
			return f.placed(ctx, k, g, res, check, alpha)
		}
		for i := range alpha {
			alpha[i] *= res.A.At(i, i)
		}
		if alpha, err = isotonic.Falling(alpha, nil); err != nil {
			return nil, err
		}
		coordinates()
	}
}

// more adds notices to those that there are.
func (f *fit) more(b logdetmetric.Bounds, notices []string, err error) (logdetmetric.Bounds, []string, error) {
	return b, append(f.notices, notices...), err
}

// divergence returns tr A - log det A - r.
func (f *fit) divergence(ctx context.Context, a blas.Matrix) (float64, error) {
	l := a.Clone()
	if err := f.eng.Cholesky(ctx, l); err != nil {
		return 0, err
	}
	sum := -float64(a.Rows)
	for i := range a.Rows {
		sum += a.At(i, i) - 2*math.Log(l.At(i, i))
	}
	return sum, nil
}

// placed returns the model whose places are the rows of G L, A = L L'.
func (f *fit) placed(ctx context.Context, k kernel.Kernel, g blas.Matrix, res *logdet.Result, check logdet.KKT, alpha []float64) (*Model, error) {
	l := res.A.Clone()
	if err := f.eng.Cholesky(ctx, l); err != nil {
		return nil, err
	}
	y := g.Clone()
	f.eng.Backend().Trmm(false, false, l, y)
	neighbors := min(f.Params.Neighbors, f.x.Len())
	if f.Params.Graph != graphkernel.KNN {
		neighbors = min(DefaultParams().Neighbors, f.x.Len())
	}
	return &Model{metric: barycentric.New(Method, k, neighbors, f.x, y), weights: alpha, about: about{Bounds: f.bounds, Residual: check.Largest(), Skipped: len(res.Skipped)}}, nil
}
