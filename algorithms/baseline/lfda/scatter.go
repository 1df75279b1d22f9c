package lfda

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/classes"
	"github.com/mustlink/mustlink/algorithms/internal/linear"
	"github.com/mustlink/mustlink/algorithms/internal/scatter"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
)

// block is the number of points that a worker takes at a time.
const block = 64

// affinities returns A_ij for the points x of a class.
type affinities func(ctx context.Context, eng *engine.Engine, x blas.Matrix) (func(i, j int) float64, error)

// local returns the affinities that points have with neighbors: none where the scale is 0, since so are the distances that count.
func local(neighbors int) affinities {
	return func(ctx context.Context, eng *engine.Engine, x blas.Matrix) (func(i, j int) float64, error) {
		t, scale := eng.Backend().Kernels(), make([]float64, x.Rows)
		err := eng.For(ctx, x.Rows, block, func(lo, hi int) error {
			squared := make([]float64, x.Rows)
			for i := lo; i < hi; i++ {
				for j := range squared {
					squared[j] = t.SquaredDistance(x.Row(i), x.Row(j))
				}
				slices.Sort(squared) // the first is that to itself
				scale[i] = math.Sqrt(squared[min(neighbors, x.Rows-1)])
			}
			return nil
		})
		return func(i, j int) float64 {
			if scale[i] == 0 || scale[j] == 0 {
				return 0
			}
			return math.Exp(-t.SquaredDistance(x.Row(i), x.Row(j)) / scale[i] / scale[j])
		}, err
	}
}

// scatters returns Sw and Sb of the points z. With y_i = sum_j A_ij (x_i - x_j) in a class, 1/2 sum_ij A_ij (x_i - x_j)(x_i -
// x_j)' is X'Y. Two different classes with means m_k, m_l and scatters S_k, S_l add (n_l S_k + n_k S_l + n_k n_l (m_k - m_l)(m_k -
// m_l)') / n to Sb. The number of pairs of classes that differ is the third result.
func scatters(ctx context.Context, eng *engine.Engine, z blas.Matrix, c *classes.Classes, near affinities) (within, between blas.Matrix, pairs int, err error) {
	n, q := float64(z.Rows), z.Cols
	within, between = eng.NewMatrix(q, q), eng.NewMatrix(q, q)
	means := eng.NewMatrix(len(c.Members), q)
	var apart []links.Link
	for k, members := range c.Members {
		x, size, rivals := z.Select(members), float64(len(members)), 0.0
		copy(means.Row(k), linear.Centre(x))
		for _, l := range c.Rivals(k) {
			other := float64(len(c.Members[l]))
			rivals += other
			if k < l {
				apart = append(apart, links.Link{I: k, J: l, Weight: size * other / n})
			}
		}
		y, err := differences(ctx, eng, x, near)
		if err != nil {
			return within, between, 0, err
		}
		eng.Backend().Gemm(true, false, 1/size, x, y, 1, within)
		eng.Backend().Gemm(true, false, 1/n-1/size, x, y, 1, between)
		eng.Backend().Gemm(true, false, rivals/n, x, x, 1, between)
	}
	err = scatter.Links(ctx, eng, means, apart, between)
	within.Mirror()
	between.Mirror()
	return within, between, len(apart), err
}

// differences returns the rows y_i = sum_j A_ij (x_i - x_j).
func differences(ctx context.Context, eng *engine.Engine, x blas.Matrix, near affinities) (blas.Matrix, error) {
	t, y := eng.Backend().Kernels(), blas.NewMatrix(x.Rows, x.Cols)
	affinity, err := near(ctx, eng, x)
	if err != nil {
		return y, err
	}
	return y, eng.For(ctx, x.Rows, block, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			sum := 0.0
			for j := range x.Rows {
				a := affinity(i, j)
				sum += a
				t.Axpy(-a, x.Row(j), y.Row(i))
			}
			t.Axpy(sum, x.Row(i), y.Row(i))
		}
		return nil
	})
}
