package sdml

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/scatter"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// problem is the matrix P on the features that vary.
type problem struct {
	matrix   blas.Matrix // P divided by unit, both triangles
	unit     float64     // the mean of the diagonal of M0^-1
	eta      float64     // the weight of a link
	limit    float64     // the balance up to which P is positive definite, or at least semidefinite
	mean     []float64   // of the points
	features []int       // those that vary, ascending
}

func newProblem(ctx context.Context, eng *engine.Engine, x *points.Dense, set *links.Set, params Params) (*problem, error) {
	p := &problem{unit: 1}
	z, err := p.vary(x)
	if err != nil {
		return nil, err
	}
	q := z.Cols
	p.matrix = eng.NewMatrix(q, q)
	for i := range q {
		p.matrix.Set(i, i, 1)
	}
	if params.Prior == Covariance {
		eng.Backend().Syrk(true, 1/float64(z.Rows), z, 0, p.matrix)
		p.matrix.Mirror()
		p.unit = 0
		for i := range q {
			p.unit += p.matrix.At(i, i) / float64(q)
		}
		eng.Backend().Kernels().Scale(1/p.unit, p.matrix.Data)
	}
	pull, apart := eng.NewMatrix(q, q), eng.NewMatrix(q, q)
	if err := scatter.Links(ctx, eng, z, set.Must(), pull); err != nil {
		return nil, err
	}
	if err := scatter.Links(ctx, eng, z, set.Cannot(), apart); err != nil {
		return nil, err
	}
	eng.Backend().Kernels().Axpy(-1, apart.Data, pull.Data)
	pull.Mirror()
	size := 0.0
	for _, v := range pull.Data {
		size = max(size, math.Abs(v))
	}
	if size == 0 {
		return nil, fault.Data("", "the differences of the links cancel, or all join equal points: want links between points that differ")
	}
	eng.Backend().Kernels().Scale(1/size, pull.Data)
	low, high, err := p.spread(ctx, eng, pull, params.Prior)
	if err != nil {
		return nil, err
	}
	rho := max(-low, high)
	p.eta, p.limit = params.Balance/rho/size*p.unit, rho/max(0, -low)
	eng.Backend().Kernels().Axpy(params.Balance/rho, pull.Data, p.matrix.Data)
	return p, nil
}

// vary returns the features that vary, centered. Squares of others vanish next to those of the widest.
func (p *problem) vary(x *points.Dense) (blas.Matrix, error) {
	const nothing = 1e-50
	z := blas.Matrix{Rows: x.N, Cols: x.D, Stride: x.D, Data: x.Data}.Clone()
	p.mean = linear.Centre(z)
	widths, widest := make([]float64, x.D), 0.0
	for i := range z.Rows {
		for j, v := range z.Row(i) {
			widths[j] = max(widths[j], math.Abs(v))
			widest = max(widest, widths[j])
		}
	}
	for j, w := range widths {
		if w > nothing*widest {
			p.features = append(p.features, j)
		}
	}
	if len(p.features) == 0 {
		return z, fault.Data("", "all points are equal: want points that vary")
	}
	for i := range z.Rows {
		row := z.Row(i)
		for k, j := range p.features {
			row[k] = row[j]
		}
	}
	return z.View(0, z.Rows, 0, len(p.features)).Clone(), nil
}

// spread returns the smallest and the largest eigenvalue of M0^1/2 (pull) M0^1/2, where p.matrix is M0^-1. Directions in which the
// points do not vary have no part.
func (p *problem) spread(ctx context.Context, eng *engine.Engine, pull blas.Matrix, prior Prior) (low, high float64, err error) {
	const rankTol = 1e-12
	seen := pull.Clone()
	if prior == Covariance {
		white, err := linear.Whiten(ctx, eng, p.matrix.Clone(), 0, rankTol)
		if err != nil {
			return 0, 0, err
		}
		half := eng.NewMatrix(white.Rows, pull.Cols)
		seen = eng.NewMatrix(white.Rows, white.Rows)
		eng.Backend().Gemm(false, false, 1, white, pull, 0, half)
		eng.Backend().Gemm(false, true, 1, half, white, 0, seen)
	}
	w := make([]float64, seen.Rows)
	err = eng.SymEig(ctx, seen, w, false)
	return w[0], w[len(w)-1], err
}

// noSolution says which parameter leaves the objective without a lower bound.
func (p *problem) noSolution(params Params) error {
	if params.Balance < p.limit {
		return &fault.ParamError{Param: "sparsity", Value: params.Sparsity, Want: "a larger number: with collinear features the objective has no lower bound (or prior=identity)"}
	}
	return &fault.ParamError{Param: "balance", Value: params.Balance, Want: fmt.Sprintf("a number below %.3g, or a larger sparsity: cannot-links outweigh the prior, and the objective has no lower bound", p.limit)}
}

// factor returns W with W'W = m, of all features and in their units.
func (p *problem) factor(ctx context.Context, eng *engine.Engine, m blas.Matrix) (blas.Matrix, error) {
	if err := eng.Cholesky(ctx, m); err != nil {
		return m, err
	}
	w := eng.NewMatrix(m.Rows, len(p.mean))
	for i := range m.Rows {
		for k, v := range m.Row(i)[:i+1] {
			w.Set(k, p.features[i], v/math.Sqrt(p.unit))
		}
	}
	return w, nil
}
