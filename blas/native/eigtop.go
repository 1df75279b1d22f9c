package native

import (
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/internal/form"
)

// SymEigTop searches a Krylov space for few eigenpairs of a large matrix: O(n^2) flops for
// each of usually some hundred products, where the decomposition takes O(n^3). It
// decomposes A where that is as fast, where the search does not end, and where squares of
// the elements leave the range of float64.
func (b *backend) SymEigTop(a blas.Matrix, w []float64, v blas.Matrix) error {
	n, k := blas.CheckSymEigTop(a, w, v)
	if k == 0 || n < krylovOrder || k > n/krylovShare || !moderate(a) {
		return b.symEigTop(a, w, v)
	}
	mirror(a)
	if newKrylov(b, a, k).find(w, v) {
		return nil
	}
	return b.symEigTop(a, w, v)
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
func moderate(a blas.Matrix) bool {
	largest := 0.0
	for i := range a.Rows {
		for _, x := range a.Row(i)[:i+1] {
			if x = math.Abs(x); !(x <= 1e100) {
				return false
			}
			largest = max(largest, x)
		}
	}
	return largest >= 1e-100
}

// mirror copies the lower triangle of a to the upper one, in tiles that fit the cache.
func mirror(a blas.Matrix) {
	const tile = 32
	for i0 := 0; i0 < a.Rows; i0 += tile {
		for j0 := 0; j0 <= i0; j0 += tile {
			for i := i0; i < min(i0+tile, a.Rows); i++ {
				for j := j0; j < min(j0+tile, i); j++ {
					a.Data[j*a.Stride+i] = a.Data[i*a.Stride+j]
				}
			}
		}
	}
}
