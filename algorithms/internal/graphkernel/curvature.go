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

// Lowest returns the k smallest eigenpairs of an operator, or the best that the search has come to
// when it reaches its bound: their residuals say how good they are.
func Lowest(ctx context.Context, eng *engine.Engine, a operator.Operator, k int, o eigen.Options) (*eigen.Result, error) {
	found, err := eigen.Bottom(ctx, eng, a, k, o)
	if rough, ok := errors.AsType[*eigen.NoConvergenceError](err); ok {
		return rough.Best, nil
	}
	return found, err
}

// Combined returns Delta less the matrix that has f(i, e) at the places of the links e of point i.
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

// Combination is a sparse matrix, less a full one where all pairs have edges.
type Combination struct {
	operator.Operator
	rest *sparse.Matrix
	n    blas.Matrix // empty without
}

// Width returns the number of vectors that it is best multiplied with at a time.
func (c *Combination) Width() int {
	if c.n.Rows == 0 {
		return c.Operator.Width()
	}
	return 8
}

// Cost returns the number of values of a row.
func (c *Combination) Cost() float64 {
	if c.n.Rows == 0 {
		return c.Operator.Cost()
	}
	return float64(c.n.Cols)
}

// Multiply overwrites y with the product with x.
func (c *Combination) Multiply(ctx context.Context, eng *engine.Engine, y, x blas.Matrix) error {
	if err := c.Operator.Multiply(ctx, eng, y, x); err != nil || c.n.Rows == 0 {
		return err
	}
	eng.Backend().Gemm(false, false, -1, c.n, x, 1, y)
	return ctx.Err()
}

// WriteTo overwrites to with the matrix, both triangles.
func (c *Combination) WriteTo(ctx context.Context, eng *engine.Engine, to blas.Matrix) error {
	return eng.Each(ctx, to.Rows, someRows, func(i int) {
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
	most := n.Count() + n.Rows + len(p.To)
	g := &sparse.Matrix{Rows: n.Rows, Cols: n.Rows, Start: make([]int, 1, n.Rows+1), Col: make([]int32, 0, most), Val: make([]float64, 0, most)}
	var all []entry // the diagonal and the links of a point
	for i := range n.Rows {
		all = append(all[:0], entry{int32(i), p.Diag[i]})
		lo, hi := p.Links(i)
		for e := lo; e < hi; e++ {
			all = append(all, entry{p.To[e], -f(i, e)})
		}
		slices.SortFunc(all, func(a, b entry) int { return int(a.col) - int(b.col) }) // no two are of a column
		own := all                                                                    // that are still to come
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
