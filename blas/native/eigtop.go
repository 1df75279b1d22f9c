package native

import (
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/form"
	"github.com/mustlink/mustlink/blas/krylov"
)

// From this order on, and for at most a tenth of the eigenpairs, [backend.SymEigTop] looks for
// the wanted ones only. Empirical: below, the full decomposition is as fast.
const (
	krylovOrder = 384
	krylovShare = 10
)

// krylovBlock is the number of columns that are multiplied by A together: as many as cost little
// more than one, which waits for memory.
const krylovBlock = 8

// SymEigTop searches a Krylov space for few eigenpairs of a large matrix: O(n^2) flops for
// each of usually some hundred products, where the decomposition takes O(n^3). It
// decomposes A where that is as fast, where the search does not end, and where squares of
// the elements leave the range of float64.
func (b *backend) SymEigTop(a blas.Matrix, w []float64, v blas.Matrix) error {
	n, k := blas.CheckSymEigTop(a, w, v)
	if k == 0 || n < krylovOrder || k > n/krylovShare || !b.moderate(a) {
		return b.symEigTop(a, w, v)
	}
	b.mirror(a)
	if b.search(a, w, v) {
		return nil
	}
	return b.symEigTop(a, w, v)
}

// search looks for the k largest eigenpairs of A, both triangles of which are valid. It returns
// false when its budget is spent, and leaves A as it is.
func (b *backend) search(a blas.Matrix, w []float64, v blas.Matrix) bool {
	n, k := a.Rows, len(w)
	p := krylov.Problem{
		N: n, K: k, Backend: b, Block: krylovBlock, Basis: min(n/2, max(10*k, 240)),
		Pass: func(_, norm float64) float64 { return 0.25 * float64(n) * 0x1p-52 * norm }, Budget: 2 * n,
		Seed: uint64(k), // the start is part of the method and the same in every call
		Multiply: func(x, y blas.Matrix) error {
			b.Gemm(false, false, 1, a, x, 0, y)
			return nil
		},
		For: func(n, block int, f func(lo, hi int) error) error {
			b.eachBlock(n, block, func(lo, hi int) { _ = f(lo, hi) }) // f fails never
			return nil
		},
	}
	res, err := p.Find()
	if err != nil || !res.Converged {
		return false // no error with finite input
	}
	copy(w, res.Values)
	form.TransposeTo(v, res.Vectors)
	return true
}

// symEigTop decomposes A.
func (b *backend) symEigTop(a blas.Matrix, w []float64, v blas.Matrix) error {
	all := make([]float64, a.Rows)
	if err := b.SymEig(a, all, true); err != nil {
		return err
	}
	form.TopRows(all, a, w, v)
	return nil
}

// moderate reports whether all elements of the lower triangle are finite and the largest
// can be squared and summed without overflow or loss to underflow. The zero matrix is not.
func (b *backend) moderate(a blas.Matrix) bool {
	largest := make([]float64, blocks(a.Rows, mirrorTile))
	b.eachBlock(a.Rows, mirrorTile, func(lo, hi int) {
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
func (b *backend) mirror(a blas.Matrix) {
	b.eachBlock(a.Rows, mirrorTile, func(lo, hi int) {
		for i0 := lo; i0 < a.Rows; i0 += mirrorTile {
			for i := i0; i < min(i0+mirrorTile, a.Rows); i++ {
				for j := lo; j < min(hi, i); j++ {
					a.Data[j*a.Stride+i] = a.Data[i*a.Stride+j]
				}
			}
		}
	})
}
