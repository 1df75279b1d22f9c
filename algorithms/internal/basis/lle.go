package basis

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/solvers/eigen"
	"github.com/mustlink/mustlink/solvers/lle"
	"github.com/mustlink/mustlink/solvers/operator"
)

// shift times the mean of the diagonal is added to the diagonal of (I - W)'(I - W), whose smallest
// eigenvalues cluster at 0.
const shift = 1e-6

// lle returns the eigenvectors of E = (I - W)'(I - W) with the smallest eigenvalues, including the
// constant one (Roweis & Saul 2000). It computes them as the leading eigenvectors of (E + s I)^-1,
// whose eigenvalues are well separated where those of E cluster. Cost: n^3 / 3 flops.
func (c Choice) lle(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points) (*Basis, error) {
	n := x.Len()
	near, err := c.neighbors(ctx, eng, k, x)
	if err != nil {
		return nil, err
	}
	if err := eng.Check(fmt.Sprintf("reconstruction errors of %d points", n), 2*engine.MatrixBytes(n, n), "use fewer points, or basis=laplacian"); err != nil {
		return nil, err
	}
	w, err := c.weights(ctx, eng, k, x, near)
	if err != nil {
		return nil, err
	}
	e := errors(eng, near, w)
	mean := 0.0
	for i := range n {
		mean += e.At(i, i) / float64(n)
	}
	for i := range n {
		e.Set(i, i, e.At(i, i)+shift*mean)
	}
	if err := eng.Cholesky(ctx, e); err != nil {
		return nil, err
	}
	found, err := eigen.Top(ctx, eng, operator.Inverse(e), c.Rank, eigen.Options{Tolerance: tolerance, Seed: c.Seed})
	if err != nil {
		return nil, err
	}
	b := &Basis{Vectors: found.Vectors, Values: make([]float64, c.Rank)}
	for i := range c.Rank {
		b.Values[i] = residue(near, w, b.Vectors.Row(i))
		if i > 0 { // equal values may descend by rounding
			b.Values[i] = max(b.Values[i], b.Values[i-1])
		}
	}
	return b, nil
}

// weights returns the weights that reconstruct every point from its neighbors in the feature space
// of k.
func (c Choice) weights(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points, near *graph.Neighbors) (blas.Matrix, error) {
	value, err := k.Values(ctx, eng, x)
	if err != nil {
		return blas.Matrix{}, err
	}
	return lle.Weights(ctx, eng, near.N, near.K, lle.OfKernel(value, near.Index, near.K), lle.DefaultRegularization)
}

// errors returns (I - W)'(I - W).
func errors(eng *engine.Engine, near *graph.Neighbors, w blas.Matrix) blas.Matrix {
	e := eng.NewMatrix(near.N, near.N)
	for i := range near.N {
		index, _ := near.Of(i)
		row := w.Row(i)
		e.Set(i, i, e.At(i, i)+1)
		for a, ja := range index {
			p := int(ja)
			e.Set(i, p, e.At(i, p)-row[a])
			e.Set(p, i, e.At(p, i)-row[a])
			for b, jb := range index {
				q := int(jb)
				e.Set(p, q, e.At(p, q)+row[a]*row[b])
			}
		}
	}
	return e
}

// residue returns |(I - W) v|^2.
func residue(near *graph.Neighbors, w blas.Matrix, v []float64) float64 {
	sum := 0.0
	for i := range near.N {
		index, _ := near.Of(i)
		d := v[i]
		for a, j := range index {
			d -= w.At(i, a) * v[j]
		}
		sum += d * d
	}
	return math.Max(0, sum)
}
