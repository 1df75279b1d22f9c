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

// Lowest returns the k smallest eigenpairs of an operator, or the best that the search has come to when it
// reaches its bound: their residuals say how good they are.
func Lowest(ctx context.Context, eng *engine.Engine, a operator.Operator, k int, o eigen.Options) (*eigen.Result, error) {
	found, err := eigen.Bottom(ctx, eng, a, k, o)
	if rough, ok := errors.AsType[*eigen.NoConvergenceError](err); ok {
		return rough.Best, nil
	}
	return found, err
}

// Combined returns Delta less the matrix that has f(i, e) at the places of the links e of point i.
func (p *Problem) Combined(f func(i, e int) float64) (operator.Operator, error) {
	if p.N.Sparse != nil {
		return operator.Sparse(p.merged(p.N.Sparse, f))
	}
	rest, err := operator.Sparse(p.merged(&sparse.Matrix{Rows: p.Len(), Cols: p.Len(), Start: make([]int, p.Len()+1)}, f))
	if err != nil {
		return nil, err
	}
	return full{rest, p.N.Full}, nil
}

// full is a sparse operator less a full matrix.
type full struct {
	operator.Operator
	n blas.Matrix
}

func (o full) Width() int    { return 8 }
func (o full) Cost() float64 { return float64(o.n.Cols) }

func (o full) Multiply(ctx context.Context, eng *engine.Engine, y, x blas.Matrix) error {
	if err := o.Operator.Multiply(ctx, eng, y, x); err != nil {
		return err
	}
	eng.Backend().Gemm(false, false, -1, o.n, x, 1, y)
	return ctx.Err()
}

// Written returns the matrix of an operator that Combined has made.
func Written(ctx context.Context, eng *engine.Engine, a operator.Operator) (blas.Matrix, error) {
	n := a.Order()
	unit, out := eng.GetMatrix(n, n), eng.NewMatrix(n, n)
	defer eng.PutMatrix(unit)
	for i := range n {
		clear(unit.Row(i))
		unit.Set(i, i, 1)
	}
	f, is := a.(full)
	if !is {
		return out, a.Multiply(ctx, eng, out, unit)
	}
	// A product of two full matrices would take more flops than a factor.
	if err := f.Operator.Multiply(ctx, eng, out, unit); err != nil {
		return out, err
	}
	for i := range n {
		eng.Backend().Kernels().Axpy(-1, f.n.Row(i), out.Row(i))
	}
	return out, nil
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
