package eigen

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/sparse"
	"github.com/mustlink/mustlink/solvers/operator"
)

// Laplacian returns the r smallest eigenvalues, in ascending order, and the eigenvectors of the
// Laplacian of the graph with the given adjacency matrix (see [graph.Laplacian]).
//
// The eigenvalue 0 has one eigenvector for each connected component, in the order of their first
// points: constant on the component, or the square roots of the degrees if normalized. These are
// known up to rounding and not searched for. A graph with r or more components returns only such
// eigenvectors. The rest is like [Bottom], but o.Null is ignored. Nothing is factored, and memory
// is about 150 vectors.
//
// Errors are those of graph.Laplacian and of Bottom.
func Laplacian(ctx context.Context, eng *engine.Engine, adjacency *sparse.Matrix, normalized bool, r int, o Options) (*Result, error) {
	n := adjacency.Rows
	if r < 0 || r > n {
		return nil, &fault.ParamError{Param: "number of eigenvalues", Value: r, Want: fmt.Sprintf("a number from 0 to %d, the number of points", n)}
	}
	l, err := graph.Laplacian(adjacency, normalized)
	if err != nil {
		return nil, err
	}
	known, err := nullSpace(eng, adjacency, normalized, r)
	if err != nil {
		return nil, err
	}
	var order []int32 // nil for the original order
	if n >= ordered {
		order = graph.Order(adjacency)
		l, known = l.Permute(order), permuted(eng, known, order)
	}
	a, err := operator.Sparse(l)
	if err != nil {
		return nil, err
	}
	o.Null = known
	s := search{Options: o, ctx: ctx, eng: eng, a: a, n: n, k: known.Rows, sign: -1}
	res, err := s.measureNull()
	if err != nil || known.Rows == r {
		restore(res, order)
		return res, err
	}
	rest, err := Bottom(ctx, eng, a, r-known.Rows, o)
	if rest == nil {
		return nil, err
	}
	if err := eng.Check("eigenvectors", engine.MatrixBytes(r, n), "ask for fewer eigenvectors or raise the memory limit"); err != nil {
		return nil, err
	}
	rest.Vectors = below(eng, res.Vectors, rest.Vectors)
	rest.Values, rest.Residuals = append(res.Values, rest.Values...), append(res.Residuals, rest.Residuals...)
	rest.Products += res.Products
	restore(rest, order)
	return rest, err
}

// permuted returns the rows of v with their elements in the given order.
func permuted(eng *engine.Engine, v blas.Matrix, order []int32) blas.Matrix {
	p := eng.NewMatrix(v.Rows, v.Cols)
	for i := range v.Rows {
		to, from := p.Row(i), v.Row(i)
		for j, at := range order {
			to[j] = from[at]
		}
	}
	return p
}

// restore reorders the elements of the eigenvectors to the original order.
func restore(res *Result, order []int32) {
	if order == nil {
		return
	}
	x := make([]float64, len(order))
	for i := range res.Vectors.Rows {
		v := res.Vectors.Row(i)
		for j, at := range order {
			x[at] = v[j]
		}
		copy(v, x)
	}
}

// ordered is the number of points from which their order matters: shorter vectors fit the
// second-level cache.
const ordered = 16384

// nullSpace returns the eigenvectors of 0 as rows, at most r of them.
func nullSpace(eng *engine.Engine, adjacency *sparse.Matrix, normalized bool, r int) (blas.Matrix, error) {
	label, count := graph.Components(adjacency)
	count = min(count, r)
	if err := eng.Check(fmt.Sprintf("eigenvectors of %d components", count), engine.MatrixBytes(count, adjacency.Rows), "ask for fewer eigenvectors or raise the memory limit"); err != nil {
		return blas.Matrix{}, err
	}
	v := eng.NewMatrix(count, adjacency.Rows)
	degrees := graph.Degrees(adjacency)
	squares := make([]float64, count)
	for i, c := range label {
		if c >= count {
			continue
		}
		x := 1.0
		if normalized && degrees[i] > 0 { // a point of degree 0 is a component of one point
			x = math.Sqrt(degrees[i])
		}
		v.Set(c, i, x)
		squares[c] += x * x
	}
	for c, s := range squares {
		eng.Backend().Kernels().Scale(1/math.Sqrt(s), v.Row(c))
	}
	return v, nil
}

// measureNull returns the known eigenvectors with the eigenvalue 0 and their residuals.
func (s *search) measureNull() (*Result, error) {
	res := &Result{Values: make([]float64, s.k), Vectors: s.Null, Residuals: []float64{}, Products: s.k, Method: "components", Converged: true}
	if s.k == 0 {
		return res, nil
	}
	x := s.eng.Transposed(s.Null)
	image := s.eng.NewMatrix(s.n, s.k)
	if err := s.a.Multiply(s.ctx, s.eng, image, x); err != nil {
		return nil, err
	}
	res.Residuals = lengths(image)
	return res, nil
}

// below returns a matrix with the rows of a followed by those of b.
func below(eng *engine.Engine, a, b blas.Matrix) blas.Matrix {
	m := eng.NewMatrix(a.Rows+b.Rows, b.Cols)
	m.View(0, a.Rows, 0, b.Cols).CopyFrom(a)
	m.View(a.Rows, a.Rows+b.Rows, 0, b.Cols).CopyFrom(b)
	return m
}
