package krca

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// helmert is the basis F (n x r) of the vectors that sum to zero over every chunklet.
// Point i of the n lies in chunklet c when start[c] <= i < start[c+1].
//
// Column j = 1..q-1 of a chunklet of q points is (1,…,1,-j,0,…,0)/sqrt(j(j+1)) with j
// leading ones: F'F = I and FF' = H. A chunklet of one point has no column.
//
// After updates, which append points and columns in the order of their arrival, columns
// and count describe the whole basis, and start the chunklets that it began with.
type helmert struct {
	start   []int
	columns []column // nil unless it grew
	count   int      // number of points, if it grew
}

func newHelmert(sizes []int) helmert {
	start := make([]int, 1, len(sizes)+1)
	for _, q := range sizes {
		start = append(start, start[len(start)-1]+q)
	}
	return helmert{start: start}
}

func (f helmert) points() int {
	if f.columns != nil {
		return f.count
	}
	return f.start[len(f.start)-1]
}

func (f helmert) order() int {
	if f.columns != nil {
		return len(f.columns)
	}
	return f.start[len(f.start)-1] - (len(f.start) - 1)
}

func (f helmert) chunklets() int { return f.points() - f.order() }

// norms holds norm of the small j, which most chunklets have.
var norms = func() (table [64]float64) {
	for j := 1; j < len(table); j++ {
		table[j] = 1 / math.Sqrt(float64(j)*float64(j+1))
	}
	return table
}()

// norm returns 1/sqrt(j(j+1)).
func norm(j int) float64 {
	if j < len(norms) {
		return norms[j]
	}
	return 1 / math.Sqrt(float64(j)*float64(j+1))
}

// apply overwrites the first r elements of v, of length n, with F'v. O(n).
//
// It is safe in place: element `out` is written after element i > out has been read, and
// the sum holds what came before.
func (f helmert) apply(v []float64) {
	if f.columns != nil {
		f.applyColumns(v)
		return
	}
	out := 0
	for c := range f.chunklets() {
		lo, hi := f.start[c], f.start[c+1]
		sum := v[lo]
		for i := lo + 1; i < hi; i++ {
			j, vi := i-lo, v[i]
			v[out] = (sum - float64(j)*vi) * norm(j)
			sum += vi
			out++
		}
	}
}

// reduce overwrites the leading r x r block of the symmetric n x n matrix k (both
// triangles valid) with F'KF, and returns that block, symmetric to the bit. O(n^2). It is
// for a basis that did not grow.
func (f helmert) reduce(ctx context.Context, eng *engine.Engine, k blas.Matrix) (blas.Matrix, error) {
	r := f.order()
	err := eng.For(ctx, k.Cols, 256, func(lo, hi int) error {
		f.applyRows(k, lo, hi)
		return nil
	})
	if err != nil {
		return blas.Matrix{}, err
	}
	err = eng.For(ctx, r, 64, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			f.apply(k.Row(i))
		}
		return nil
	})
	if err != nil {
		return blas.Matrix{}, err
	}
	a := k.View(0, r, 0, r)
	a.Mirror()
	return a, nil
}

// applyRows overwrites the first r rows of columns [lo, hi) of k with F' times them.
func (f helmert) applyRows(k blas.Matrix, lo, hi int) {
	sum := make([]float64, hi-lo)
	out := 0
	for c := range f.chunklets() {
		copy(sum, k.Row(f.start[c])[lo:hi])
		for i := f.start[c] + 1; i < f.start[c+1]; i++ {
			j := i - f.start[c]
			scale, in, to := norm(j), k.Row(i)[lo:hi], k.Row(out)[lo:hi]
			for x, v := range in {
				to[x] = (sum[x] - float64(j)*v) * scale
				sum[x] += v
			}
			out++
		}
	}
}

// expand returns F w, n x d, for w of shape r x d. O(nd).
func (f helmert) expand(w blas.Matrix) blas.Matrix {
	if f.columns != nil {
		return f.expandColumns(w)
	}
	dst := blas.NewMatrix(f.points(), w.Cols)
	in := f.order()
	tail := make([]float64, w.Cols) // sum of the scaled rows of w whose ones reach point i
	for c := f.chunklets() - 1; c >= 0; c-- {
		clear(tail)
		for i := f.start[c+1] - 1; i > f.start[c]; i-- {
			in--
			j := i - f.start[c]
			scale, row, to := norm(j), w.Row(in), dst.Row(i)
			for x, v := range row {
				to[x] = tail[x] - float64(j)*scale*v
				tail[x] += scale * v
			}
		}
		copy(dst.Row(f.start[c]), tail)
	}
	return dst
}
