package gml

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/basis"
	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/outofsample"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/logdet"
	"github.com/mustlink/mustlink/solvers/optimize"
)

// least is the lower bound of alpha, relative to the largest alpha.
const least = 1e-12

// spectral learns with the prior on a graph.
func (f *fit) spectral(ctx context.Context) (*learned, error) {
	if f.before != nil {
		return f.moved(ctx)
	}
	k, err := f.Params.In(ctx, f.Eng, f.Kernel, f.X, DefaultKernel)
	if err != nil {
		return nil, err
	}
	b, err := f.basis(ctx, k)
	if err != nil {
		return nil, err
	}
	return f.alternate(ctx, k, b)
}

// basis returns the vectors to weigh, which are the same for all gamma.
func (f *fit) basis(ctx context.Context, k kernel.Kernel) (*basis.Basis, error) {
	b, err := f.warm.basis(func() (*basis.Basis, error) { return f.vectors(ctx, k) })
	if err == nil {
		f.Notices = append(f.Notices, b.Notices...)
	}
	return b, err
}

// vectors returns the given vectors, or those of the points in the feature space of k.
func (f *fit) vectors(ctx context.Context, k kernel.Kernel) (*basis.Basis, error) {
	if f.given != nil {
		return basis.Given(f.Eng, f.given, f.X.Len(), f.Params.Rank)
	}
	r := f.Params.Rank
	if r == 0 {
		r = max(2, min(40, f.X.Len()/10))
	}
	return basis.Choice{
		Kind: f.Params.Basis, Normalized: f.Params.Laplacian == Normalized,
		Neighborhood: f.Params.Neighborhood,
		Rank:         r, Similarities: f.Similarities, Seed: f.Seed,
	}.Make(ctx, f.Eng, k, f.X)
}

// alternate learns K and alpha in turn.
func (f *fit) alternate(ctx context.Context, k kernel.Kernel, b *basis.Basis) (*learned, error) {
	r, n := len(b.Values), f.X.Len()
	alpha := make([]float64, r)
	for i, mu := range b.Values {
		alpha[i] = math.Exp(-f.Params.Diffusion * mu)
	}
	free := 0 // weights outside the order
	if f.Params.FreeConstant {
		free = b.Constant()
	}
	coordinates := func() blas.Matrix {
		for c := range alpha {
			alpha[c] = max(alpha[c], least*alpha[0])
		}
		return linear.Coordinates(b.Vectors, alpha)
	}
	g := coordinates()
	if err := f.find(ctx, kernel.Linear(), &points.Dense{N: n, D: r, Data: g.Data}); err != nil {
		return nil, err
	}
	constraints := f.bounds.Constraints(f.targets, nil)
	var best struct {
		result *logdet.Result
		alpha  []float64
		g      blas.Matrix
	}
	for {
		res, err := f.project(func(o logdet.Options) (*logdet.Result, error) {
			return logdet.Rows(ctx, f.Eng, g, constraints, o)
		})
		if err != nil {
			return nil, err
		}
		last, worse := f.round(res)
		if !worse {
			best.result, best.alpha, best.g = res, slices.Clone(alpha), g
		}
		if last {
			check := best.result.CheckRows(f.Eng, best.g, constraints, f.Params.Gamma)
			return f.coordinates(ctx, k, b, best.g, best.result, check, best.alpha)
		}
		for i := range alpha {
			alpha[i] *= res.A.At(i, i)
		}
		ordered, err := optimize.Falling(alpha[free:], nil)
		if err != nil {
			return nil, err
		}
		copy(alpha[free:], ordered)
		g = coordinates()
	}
}

// factor returns L of A = L L', zeros above the diagonal.
func (f *fit) factor(ctx context.Context, a blas.Matrix) (blas.Matrix, error) {
	l := a.Clone()
	if err := f.Eng.Cholesky(ctx, l); err != nil {
		return blas.Matrix{}, err
	}
	l.ClearUpper()
	return l, nil
}

// coordinates returns the model whose coordinates are the rows of G L, A = L L'.
func (f *fit) coordinates(ctx context.Context, k kernel.Kernel, b *basis.Basis, g blas.Matrix,
	res *logdet.Result, check logdet.KKT, alpha []float64) (*learned, error) {
	l, err := f.factor(ctx, res.A)
	if err != nil {
		return nil, err
	}
	m := &learned{kept: kept{f.about(res, check), alpha, l}}
	if f.Params.Extension == Nystrom {
		if b.Degrees == nil {
			return nil, fault.Param("extension", string(Nystrom), "barycentric for a given basis")
		}
		turn := blas.NewMatrix(l.Rows, l.Rows) // diag(alpha)^1/2 L
		for i := range turn.Rows {
			copy(turn.Row(i)[:i+1], l.Row(i)[:i+1])
			f.Eng.Backend().Kernels().Scale(math.Sqrt(alpha[i]), turn.Row(i))
		}
		m.Map = outofsample.NewNystrom(f.Eng, Method, k, f.X, outofsample.NystromRule{
			Vectors: b.Vectors, Values: b.Values, Turn: turn, Degrees: b.Degrees,
			Neighbors:  min(f.Params.Neighbors, f.X.Len()),
			Similarity: b.Similarity, Normalized: f.Params.Laplacian == Normalized,
		})
		return m, nil
	}
	y := g.Clone()
	f.Eng.Backend().Trmm(false, false, l, y)
	neighbors := min(f.Params.Neighbors, f.X.Len())
	if f.Params.Graph != graphkernel.KNN {
		neighbors = min(DefaultParams().Neighbors, f.X.Len())
	}
	m.Map, err = outofsample.NewBarycentric(ctx, f.Eng, Method, k, neighbors, f.X, y)
	return m, err
}
