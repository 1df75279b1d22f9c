package krylov

import (
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
)

// From this order on, and for at most one in leastShare of the eigenpairs, [Top] computes only the
// requested ones. Chosen by experiment: for smaller problems a decomposition with only the
// requested eigenvectors is as fast.
const (
	leastOrder = 512
	leastShare = 16
)

// topBlock is the number of columns that are multiplied by A together: as many as cost little more
// than one, which is limited by memory.
const topBlock = 8

// topRows is the number of rows of vectors that a task copies.
const topRows = 1024

// Each calls f for the blocks [lo, hi) of the given size that make up [0, n), on all workers.
type Each func(n, size int, f func(lo, hi int))

// Top computes the largest eigenpairs of A like [blas.Backend].SymEigTop, with O(n^2) flops for
// each of usually some hundred products, and copies the lower triangle to the upper one. It returns
// false, and leaves the lower triangle unchanged, if a decomposition is better: for small orders
// and many pairs, elements whose squares are outside the range of float64, NaN, and spectra on
// which the search does not converge within 2n products.
func Top(backend blas.Backend, each Each, a blas.Matrix, w []float64, v blas.Matrix) bool {
	n, k := a.Rows, len(w)
	if k == 0 || n < leastOrder || k > n/leastShare || !moderate(each, a) {
		return false
	}
	mirror(each, a)
	p := Problem{
		N: n, K: k, Backend: backend, Block: topBlock, Basis: min(n/2, max(10*k, 240)),
		Pass: func(_, norm float64) float64 { return 0.25 * float64(n) * 0x1p-52 * norm }, Budget: 2 * n,
		Seed: uint64(k), // the start is part of the method and the same in every call
		Multiply: func(x, y blas.Matrix) error {
			backend.Gemm(false, false, 1, a, x, 0, y)
			return nil
		},
		For: func(n, block int, f func(lo, hi int) error) error {
			each(n, block, func(lo, hi int) { _ = f(lo, hi) }) // it never fails
			return nil
		},
	}
	res, err := p.Find()
	if err != nil || !res.Converged {
		return false // no error with finite input
	}
	copy(w, res.Values)
	each(n, topRows, func(lo, hi int) { res.Vectors.View(lo, hi, 0, k).TransposeTo(v.View(0, k, lo, hi)) })
	return true
}

// moderate reports whether all elements of the lower triangle are finite and the largest
// can be squared and summed without overflow or loss to underflow. The zero matrix is not.
func moderate(each Each, a blas.Matrix) bool {
	largest := make([]float64, (a.Rows+mirrorTile-1)/mirrorTile)
	each(a.Rows, mirrorTile, func(lo, hi int) {
		most := 0.0
		for i := lo; i < hi; i++ {
			for _, x := range a.Row(i)[:i+1] {
				if x = math.Abs(x); x > most {
					most = x
				} else if x != x {
					largest[lo/mirrorTile] = x
					return
				}
			}
		}
		largest[lo/mirrorTile] = most
	})
	most := slices.Max(largest) // NaN if there is one
	return most >= 1e-100 && most <= 1e100
}

// mirrorTile is the side of tiles that fit the cache twice, as rows and as columns.
const mirrorTile = 32

// mirror copies the lower triangle of a to the upper one, in tiles.
func mirror(each Each, a blas.Matrix) {
	each(a.Rows, mirrorTile, func(lo, hi int) {
		for i0 := lo; i0 < a.Rows; i0 += mirrorTile {
			for i := i0; i < min(i0+mirrorTile, a.Rows); i++ {
				for j := lo; j < min(hi, i); j++ {
					a.Data[j*a.Stride+i] = a.Data[i*a.Stride+j]
				}
			}
		}
	})
}
