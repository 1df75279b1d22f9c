package forest

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/solvers/operator"
)

// leaves holds the leaves of the training points. As an operator, it is the centered n x n matrix
// of the shares of common leaves, which is never formed.
type leaves struct {
	of    [][]int32 // of[t][i] is the leaf of point i in tree t, counted over all trees
	first []int     // of each tree, and the number of all leaves
}

func (l *leaves) count() int { return l.first[len(l.of)] }

// Order returns the number of points.
func (l *leaves) Order() int { return len(l.of[0]) }

// panel is the number of columns that are multiplied at a time.
const panel = 16

// Width returns the number of columns that take little longer than one.
func (l *leaves) Width() int { return panel }

// Cost returns the multiply-adds of a product with one vector, divided by n.
func (l *leaves) Cost() float64 { return 2 * float64(len(l.of)) }

// Multiply writes H Z Z' H x / trees to y, where Z has the indicators of the leaves and H subtracts
// the mean.
func (l *leaves) Multiply(ctx context.Context, eng *engine.Engine, y, x blas.Matrix) error {
	for c := 0; c < x.Cols; c += panel {
		to := min(c+panel, x.Cols)
		from, out := x.View(0, x.Rows, c, to).Clone(), y.View(0, y.Rows, c, to)
		linear.Center(from)
		s := eng.GetMatrix(l.count(), to-c)
		err := l.sums(ctx, eng, from, s)
		if err == nil {
			err = l.spread(ctx, eng, s, out)
		}
		eng.PutMatrix(s)
		if err != nil {
			return err
		}
		for i := range out.Rows {
			eng.Backend().Kernels().Scale(1/float64(len(l.of)), out.Row(i))
		}
		linear.Center(out)
	}
	return nil
}

// sums writes to row k of s the sum of the rows of x whose points are in leaf k.
func (l *leaves) sums(ctx context.Context, eng *engine.Engine, x, s blas.Matrix) error {
	return eng.Each(ctx, len(l.of), 1, func(t int) {
		for k := l.first[t]; k < l.first[t+1]; k++ {
			clear(s.Row(k))
		}
		for i, k := range l.of[t] {
			add(s.Row(int(k)), x.Row(i))
		}
	})
}

// spread writes to row i of y the sum of the rows of s at the leaves of point i.
func (l *leaves) spread(ctx context.Context, eng *engine.Engine, s, y blas.Matrix) error {
	return eng.Each(ctx, y.Rows, 256, func(i int) {
		row := y.Row(i)
		clear(row)
		for _, of := range l.of {
			add(row, s.Row(int(of[i])))
		}
	})
}

func add(to, from []float64) {
	for c, v := range from {
		to[c] += v
	}
}

// principal returns the roots of the leading eigenvalues of the operator, which are not 0, and
// their eigenvectors as columns with mean 0.
func (l *leaves) principal(ctx context.Context, eng *engine.Engine, rank int, seed uint64) ([]float64, blas.Matrix, error) {
	const tolerance, nothing = 1e-8, 1e-10
	found, err := operator.TopEigenpairs(ctx, eng, l, rank, operator.EigenOptions{Seed: seed, Tolerance: tolerance})
	if err != nil {
		return nil, blas.Matrix{}, err
	}
	var roots []float64
	for _, v := range found.Values {
		if v > 0 && v > nothing*found.Values[0] && v > nothing {
			roots = append(roots, math.Sqrt(v))
		}
	}
	if len(roots) == 0 {
		return nil, blas.Matrix{}, fault.Data("", "no tree separates any points: want cannot-links between points that differ, or a smaller min_leaf")
	}
	u := eng.NewMatrix(l.Order(), len(roots))
	for c := range roots {
		for i, v := range found.Vectors.Row(c) {
			u.Set(i, c, v)
		}
	}
	linear.Center(u)
	return roots, u, nil
}
