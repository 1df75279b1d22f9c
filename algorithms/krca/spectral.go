package krca

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// rankTol is the smallest eigenvalue of F'KF, relative to the largest, that counts.
const rankTol = 1e-12

// decomposition is F'KF = U diag(values) U' on its numerical range.
type decomposition struct {
	basis  blas.Matrix // r x q, U diag(values)^-1/2
	values []float64   // q of them, descending
}

// decompose computes the numerical range of A, symmetric positive semidefinite of order r
// (both triangles valid; only read): a Cholesky decomposition with pivoting A = B B', and
// the eigenvectors V of the small B'B, which give U = B V diag(s)^-1/2.
// O(r q^2) flops, r q values of memory for rank q.
//
// noise bounds the rounding errors in the elements of A, which may be all there is of it:
// chunklets of equal rows have F'KF = 0, computed as the difference of ordinary numbers.
// A that is indefinite beyond rounding is a *fault.DataError.
func decompose(ctx context.Context, eng *engine.Engine, a blas.Matrix, noise float64) (decomposition, error) {
	bt, err := pivotedCholesky(ctx, eng, a, noise)
	if err != nil {
		return decomposition{}, err
	}
	if err := checkSemidefinite(eng, a, bt, noise); err != nil {
		return decomposition{}, err
	}
	q := bt.Rows
	small := eng.NewMatrix(q, q)
	eng.Backend().Syrk(false, 1, bt, 0, small)
	w := make([]float64, q)
	if err := eng.SymEig(ctx, small, w, true); err != nil {
		return decomposition{}, err
	}
	kept := 0
	for kept < q && w[q-1-kept] > rankTol*w[q-1] {
		kept++
	}
	// Rows of V' in descending order, scaled: basis = B V diag(s)^-1.
	v, values := blas.NewMatrix(kept, q), make([]float64, kept)
	for r := range kept {
		values[r] = w[q-1-r]
		row := v.Row(r)
		copy(row, small.Row(q-1-r))
		for j := range row {
			row[j] /= values[r]
		}
	}
	basis := eng.NewMatrix(a.Rows, kept)
	eng.Backend().Gemm(true, true, 1, bt, v, 0, basis)
	return decomposition{basis, values}, ctx.Err()
}

// pivotedCholesky returns B' (q x r) with A ~ B B', the column of the largest remaining
// diagonal element first, up to the first pivot within rounding of 0 (r u max_i A_ii, as
// LAPACK's dpstrf, or noise). 2 r q^2 flops, in products of a matrix and a vector.
func pivotedCholesky(ctx context.Context, eng *engine.Engine, a blas.Matrix, noise float64) (blas.Matrix, error) {
	r := a.Rows
	rest := diagonalOf(a)
	largest := 0.0
	for _, d := range rest {
		largest = max(largest, d)
	}
	stop := max(float64(r)*0x1p-53*largest, noise)
	bt := blas.Matrix{Cols: r, Stride: max(1, r)}
	for bt.Rows < r {
		p := 0
		for i, d := range rest {
			if d > rest[p] {
				p = i
			}
		}
		if !(rest[p] > stop) {
			break
		}
		if bt.Rows%64 == 0 {
			if err := ctx.Err(); err != nil {
				return bt, err
			}
		}
		bt = appendColumn(eng, bt, a, p, rest)
	}
	return bt, nil
}

// appendColumn appends the column of pivot p to B (a row of B'), and takes its squares
// from the remaining diagonal.
func appendColumn(eng *engine.Engine, bt, a blas.Matrix, p int, rest []float64) blas.Matrix {
	r, pivot := a.Rows, math.Sqrt(rest[p])
	done := make([]float64, bt.Rows) // row p of B so far
	for j := range done {
		done[j] = bt.At(j, p)
	}
	column := append(make([]float64, 0, r), a.Row(p)...)
	if bt.Rows > 0 {
		eng.Backend().Gemv(true, -1, bt, done, 1, column)
	}
	for i := range column {
		column[i] /= pivot
		rest[i] -= column[i] * column[i]
	}
	rest[p] = 0 // exactly, so that rounding cannot choose it again
	bt.Data = append(bt.Data, column...)
	bt.Rows++
	return bt
}

// checkSemidefinite compares A v with B(B'v) for a fixed vector v: what the pivots left
// must be rounding error, unless A has negative eigenvalues.
func checkSemidefinite(eng *engine.Engine, a, bt blas.Matrix, noise float64) error {
	r, q := bt.Cols, bt.Rows
	v, av, bv := make([]float64, r), make([]float64, r), make([]float64, q)
	for i := range v {
		v[i] = math.Cos(float64(3*i*i + i)) // no structure that a kernel matrix would share
	}
	eng.Backend().Symv(1, a, v, 0, av)
	scale := 0.0
	for i := range r {
		scale = max(scale, math.Abs(av[i]), math.Abs(a.At(i, i)))
	}
	if q > 0 {
		eng.Backend().Gemv(false, 1, bt, v, 0, bv)
		eng.Backend().Gemv(true, -1, bt, bv, 1, av)
	}
	for _, d := range av {
		if !(math.Abs(d) <= 1e-8*scale+float64(r)*noise) {
			return fault.Data("", "the kernel matrix of the points in chunklets is not positive semidefinite: "+
				"want a kernel without negative eigenvalues")
		}
	}
	return nil
}
