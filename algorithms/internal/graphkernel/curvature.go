package graphkernel

import (
	"context"
	"errors"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/sparse"
	"github.com/mustlink/mustlink/solvers/eigen"
	"github.com/mustlink/mustlink/solvers/operator"
)

// Lowest returns the k smallest eigenpairs of an operator. If the search reaches its maximum number
// of steps, it returns the best pairs found; their residuals measure how exact they are.
func Lowest(ctx context.Context, eng *engine.Engine, a operator.Operator, k int, o eigen.Options) (*eigen.Result, error) {
	found, err := eigen.Bottom(ctx, eng, a, k, o)
	if rough, ok := errors.AsType[*eigen.NoConvergenceError](err); ok {
		return rough.Best, nil
	}
	return found, err
}

// Combined returns Delta minus the matrix whose entry at (i, To[e]) is f(i, e), for the links e of
// each point i.
func (p *Problem) Combined(f func(i, e int) float64) (*Combination, error) {
	edges := p.N.Sparse
	if edges == nil {
		edges = &sparse.Matrix{Rows: p.Len(), Cols: p.Len(), Start: make([]int, p.Len()+1)}
	}
	c := &Combination{rest: p.merged(edges, f), n: p.N.Full}
	var err error
	c.Operator, err = operator.Sparse(c.rest)
	return c, err
}

// Combination is a sparse matrix, minus the full matrix of similarities if all pairs have edges.
type Combination struct {
	operator.Operator
	rest *sparse.Matrix
	n    blas.Matrix // empty if the graph is sparse
}

// Width returns the number of vectors by which one product is cheapest.
func (c *Combination) Width() int {
	if c.n.Rows == 0 {
		return c.Operator.Width()
	}
	return 8
}

// Cost returns the number of stored values per row.
func (c *Combination) Cost() float64 {
	if c.n.Rows == 0 {
		return c.Operator.Cost()
	}
	return float64(c.n.Cols)
}

// Multiply overwrites y with the product of the matrix and x.
func (c *Combination) Multiply(ctx context.Context, eng *engine.Engine, y, x blas.Matrix) error {
	if err := c.Operator.Multiply(ctx, eng, y, x); err != nil || c.n.Rows == 0 {
		return err
	}
	eng.Backend().Gemm(false, false, -1, c.n, x, 1, y)
	return ctx.Err()
}

// WriteTo overwrites to with the full matrix, both triangles.
func (c *Combination) WriteTo(ctx context.Context, eng *engine.Engine, to blas.Matrix) error {
	return eng.Each(ctx, to.Rows, chunk, func(i int) {
		row := to.Row(i)
		clear(row)
		if c.n.Rows > 0 {
			eng.Backend().Kernels().Axpy(-1, c.n.Row(i), row)
		}
		col, val := c.rest.Row(i)
		for k, j := range col {
			row[j] += val[k]
		}
	})
}

// merged returns diag(Diag) - n - f.
func (p *Problem) merged(n *sparse.Matrix, f func(i, e int) float64) *sparse.Matrix {
	size := n.Count() + n.Rows + len(p.To) // an upper bound
	g := &sparse.Matrix{Rows: n.Rows, Cols: n.Rows, Start: make([]int, 1, n.Rows+1), Col: make([]int32, 0, size), Val: make([]float64, 0, size)}
	var all []entry // the diagonal and the links of one point
	for i := range n.Rows {
		all = append(all[:0], entry{int32(i), p.Diag[i]})
		lo, hi := p.Links(i)
		for e := lo; e < hi; e++ {
			all = append(all, entry{p.To[e], -f(i, e)})
		}
		slices.SortFunc(all, func(a, b entry) int { return int(a.col) - int(b.col) }) // columns are distinct
		own := all                                                                    // entries not yet merged
		col, val := n.Row(i)
		for k, j := range col {
			for len(own) > 0 && own[0].col < j {
				g.Col, g.Val = append(g.Col, own[0].col), append(g.Val, own[0].val)
				own = own[1:]
			}
			v := -val[k]
			if len(own) > 0 && own[0].col == j {
				v += own[0].val
				own = own[1:]
			}
			g.Col, g.Val = append(g.Col, j), append(g.Val, v)
		}
		for _, x := range own {
			g.Col, g.Val = append(g.Col, x.col), append(g.Val, x.val)
		}
		g.Start = append(g.Start, len(g.Col))
	}
	return g
}

type entry struct {
	col int32
	val float64
}
