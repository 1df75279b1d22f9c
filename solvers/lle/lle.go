// Package lle (internal: may change) computes the weights that best reconstruct points from
// their neighbors, the first step of locally linear embedding (Roweis & Saul 2000).
package lle

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Gram writes the local Gram matrix of point i and its k neighbors, <x_i - x_a, x_i - x_b> for
// neighbor numbers a and b <= a, to g[(a*k+b)*stride]. It is called concurrently.
type Gram func(i int, g []float64, stride int)

// DefaultRegularization is the default value added to the diagonals of local Gram matrices,
// relative to their traces. These matrices are singular if there are more neighbors than
// dimensions.
const DefaultRegularization = 1e-3

// Weights returns the n x k matrix of the weights w_i that minimize |x_i - sum_a w_ia x_a|^2 with
// sum_a w_ia = 1: the solution of (G_i + r tr(G_i) I) w = 1, divided by its sum, where r >= 0 is
// the regularization. If tr(G_i) = 0, as for a point among copies of itself, the weights are equal.
//
// Errors: a *fault.ParamError for k < 1 or a negative r; a *fault.DataError with its row for a G_i
// that is not positive definite in spite of r; ctx.Err(). Cost: k^3/3 + 2k^2 flops per point, in
// addition to gram; as many points at a time as a vector has lanes. The bits of a point's weights
// depend only on its own Gram matrix.
func Weights(ctx context.Context, eng *engine.Engine, n, k int, gram Gram, r float64) (blas.Matrix, error) {
	if k < 1 {
		return blas.Matrix{}, fault.Param("neighbors", k, "a number >= 1")
	}
	if !(r >= 0) || math.IsInf(r, 1) {
		return blas.Matrix{}, fault.Param("regularization", r, "a number >= 0")
	}
	if err := eng.Check(fmt.Sprintf("%d weights of %d points", k, n), engine.MatrixBytes(n, k),
		"use fewer neighbors or raise the memory limit"); err != nil {
		return blas.Matrix{}, err
	}
	w := eng.NewMatrix(n, k)
	const block = 256 // points, a multiple of all numbers of lanes
	err := eng.For(ctx, n, block, func(lo, hi int) error {
		b := batch{t: eng.Backend().Kernels(), k: k, r: r, gram: gram}
		b.g = eng.GetMatrix(k*k, b.t.Lanes)
		b.w = eng.GetMatrix(k, b.t.Lanes)
		defer eng.PutMatrix(b.g)
		defer eng.PutMatrix(b.w)
		for i := lo; i < hi; i += b.t.Lanes {
			if err := b.solve(w.View(i, min(i+b.t.Lanes, hi), 0, k), i); err != nil {
				return err
			}
		}
		return nil
	})
	return w, err
}

// batch solves for as many points at once as a vector has lanes.
type batch struct {
	t    *asm.Table
	k    int
	r    float64
	gram Gram
	g, w blas.Matrix // row by row, a lane for each point
}

// solve writes the weights of the points from i0 on, as many as dst has rows.
func (b *batch) solve(dst blas.Matrix, i0 int) error {
	for l := range b.t.Lanes {
		if l < dst.Rows {
			b.gram(i0+l, b.g.Data[l:], b.t.Lanes)
			b.regularize(l)
		} else {
			b.identity(l)
		}
	}
	b.t.CholeskyOnes(b.k, b.g.Data, b.w.Data)
	for l := range dst.Rows {
		row, sum := dst.Row(l), 0.0
		for a := range row {
			row[a] = b.w.At(a, l)
			sum += row[a]
		}
		if !(sum > 0) || math.IsInf(sum, 1) {
			return fault.Row(i0+l, "the Gram matrix of the %d neighbors is not positive definite: want a "+
				"larger regularization or fewer neighbors", b.k)
		}
		for a := range row {
			row[a] /= sum
		}
	}
	return nil
}

func (b *batch) regularize(l int) {
	trace := 0.0
	for a := range b.k {
		trace += b.g.At(a*b.k+a, l)
	}
	if trace == 0 {
		b.identity(l)
		return
	}
	for a := range b.k {
		b.g.Set(a*b.k+a, l, b.g.At(a*b.k+a, l)+b.r*trace)
	}
}

func (b *batch) identity(l int) {
	for a := range b.k {
		for c := range a {
			b.g.Set(a*b.k+c, l, 0)
		}
		b.g.Set(a*b.k+a, l, 1)
	}
}

// OfVectors returns the local Gram matrices of dense points in their own space. neighbors lists k
// neighbors for every point, one point after the other. Cost: k(k+1) d flops per point.
func OfVectors(eng *engine.Engine, x *points.Dense, neighbors []int32, k int) Gram {
	t := eng.Backend().Kernels()
	return func(i int, g []float64, stride int) {
		d := eng.GetMatrix(k, x.D)
		defer eng.PutMatrix(d)
		for a, j := range neighbors[i*k : (i+1)*k] {
			row, from := d.Row(a), x.Row(int(j))
			copy(row, from)
			t.Axpy(-1, x.Row(i), row)
			for b := range a + 1 {
				g[(a*k+b)*stride] = t.Dot(row, d.Row(b))
			}
		}
	}
}

// OfKernel returns the local Gram matrices in the feature space of a kernel with the given values:
// K_ii - K_ia - K_ib + K_ab. Cost: about k^2/2 + 2k values per point.
func OfKernel(value func(i, j int) float64, neighbors []int32, k int) Gram {
	return func(i int, g []float64, stride int) {
		self := value(i, i)
		list := neighbors[i*k : (i+1)*k]
		toI := make([]float64, k)
		for a, j := range list {
			toI[a] = value(i, int(j))
			for b, l := range list[:a+1] {
				g[(a*k+b)*stride] = self - toI[a] - toI[b] + value(int(j), int(l))
			}
		}
	}
}
