// Package scatter computes the scatter matrices of linear and kernel metrics: that of the
// differences of linked points, and that of the residuals of points reconstructed from their
// neighbors.
package scatter

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/links"
)

// block is the number of rows that add buffers at a time.
const block = 512

// Links adds sum w_ij (c_i - c_j)(c_i - c_j)' over the links to the lower triangle of out, m x m,
// where c_i is row i of the coordinates c, n x m: C'UC for the graph Laplacian U of the links.
// Cost: m^2 flops per link.
func Links(ctx context.Context, eng *engine.Engine, c blas.Matrix, list []links.Link, out blas.Matrix) error {
	t := eng.Backend().Kernels()
	return add(ctx, eng, len(list), 1, out, func(k int, row []float64) {
		l := list[k]
		copy(row, c.Row(l.I))
		t.Axpy(-1, c.Row(l.J), row)
		if l.Weight != 1 {
			t.Scale(math.Sqrt(l.Weight), row)
		}
	})
}

// Residuals adds alpha sum r_i r_i' to the lower triangle of out, where r_i = c_i - sum_a w_ia c_a
// over the neighbors a of point i: alpha C'(I - S)'(I - S)C for the sparse matrix S of the weights
// w, n x k. Cost: n m (m + 2k) flops.
func Residuals(ctx context.Context, eng *engine.Engine, c blas.Matrix, near *graph.Neighbors, w blas.Matrix, alpha float64, out blas.Matrix) error {
	t := eng.Backend().Kernels()
	return add(ctx, eng, c.Rows, alpha, out, func(i int, row []float64) {
		copy(row, c.Row(i))
		index, _ := near.Of(i)
		for a, j := range index {
			t.Axpy(-w.At(i, a), c.Row(int(j)), row)
		}
	})
}

// add adds alpha sum r r' to out for the count rows r that write computes.
func add(ctx context.Context, eng *engine.Engine, count int, alpha float64, out blas.Matrix, write func(k int, row []float64)) error {
	rows := eng.GetMatrix(min(block, count), out.Cols)
	defer eng.PutMatrix(rows)
	for first := 0; first < count; first += block {
		some := min(block, count-first)
		err := eng.Each(ctx, some, 16, func(k int) { write(first+k, rows.Row(k)) })
		if err != nil {
			return err
		}
		eng.Backend().Syrk(true, alpha, rows.View(0, some, 0, out.Cols), 1, out)
	}
	return ctx.Err()
}
