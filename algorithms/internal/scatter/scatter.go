// Package scatter computes the scatter matrices of linear and kernel metrics: that of the
// differences of linked points, and that of the residuals of points reconstructed from their
// neighbors.
package scatter

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/links"
)

// block is the number of rows that add buffers at a time.
const block = 512

// Links adds sum w_ij (c_i - c_j)(c_i - c_j)' over the links to the lower triangle of out, m x m,
// where c_i is row i of the coordinates c, n x m: C'UC for the graph Laplacian U of the links.
// Cost: w^2 flops for a link whose coordinates are 0 beyond the first w.
func Links(ctx context.Context, eng *engine.Engine, c blas.Matrix, list []links.Link, out blas.Matrix) error {
	t, widths := eng.Backend().Kernels(), make([]int, len(list))
	for k, l := range list {
		widths[k] = max(width(c.Row(l.I)), width(c.Row(l.J)))
	}
	return add(ctx, eng, widths, 1, out, func(k int, row []float64) {
		l := list[k]
		copy(row, c.Row(l.I))
		t.Axpy(-1, c.Row(l.J)[:len(row)], row)
		if l.Weight != 1 {
			t.Scale(math.Sqrt(l.Weight), row)
		}
	})
}

// Residuals adds alpha sum r_i r_i' to the lower triangle of out, where r_i = c_i - sum_a w_ia c_a
// over the neighbors a of point i: alpha C'(I - S)'(I - S)C for the sparse matrix S of the weights
// w, n x k. Cost: n m (m + 2k) flops.
func Residuals(ctx context.Context, eng *engine.Engine, c blas.Matrix, near *graph.Neighbors, w blas.Matrix, alpha float64, out blas.Matrix) error {
	t, own := eng.Backend().Kernels(), make([]int, c.Rows)
	for i := range own {
		own[i] = width(c.Row(i))
	}
	widths := slices.Clone(own)
	for i := range widths {
		index, _ := near.Of(i)
		for _, j := range index {
			widths[i] = max(widths[i], own[j])
		}
	}
	return add(ctx, eng, widths, alpha, out, func(i int, row []float64) {
		copy(row, c.Row(i))
		index, _ := near.Of(i)
		for a, j := range index {
			t.Axpy(-w.At(i, a), c.Row(int(j))[:len(row)], row)
		}
	})
}

// width returns the number of elements up to the last that is not 0. Coordinates along the rows of
// a Cholesky factor are triangular.
func width(row []float64) int {
	n := len(row)
	for n > 0 && row[n-1] == 0 {
		n--
	}
	return n
}

// add adds alpha sum r r' to out for rows r of the given widths, of which write computes the
// elements that it is given.
func add(ctx context.Context, eng *engine.Engine, widths []int, alpha float64, out blas.Matrix, write func(k int, row []float64)) error {
	order := make([]int, len(widths))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(widths[a], widths[b]) })
	rows := eng.GetMatrix(min(block, len(order)), out.Cols)
	defer eng.PutMatrix(rows)
	for some := range slices.Chunk(order, block) {
		m := widths[some[len(some)-1]]
		err := eng.Each(ctx, len(some), 16, func(k int) { write(some[k], rows.Row(k)[:m]) })
		if err != nil {
			return err
		}
		eng.Backend().Syrk(true, alpha, rows.View(0, len(some), 0, m), 1, out.View(0, m, 0, m))
	}
	return ctx.Err()
}
