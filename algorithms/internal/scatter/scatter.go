// Package scatter computes the scatter matrices of linear and kernel metrics: that of the
// differences of linked points, and that of the residuals of points reconstructed from their
// neighbors.
package scatter

import (
	"context"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/links"
)

// Differences are the rows of DC for coordinates C, n x m, and a sparse matrix D. The first factor
// of a row of D is 1. Each row has a weight, so that their scatter is C'D'WDC.
type Differences struct {
	// At[i] is the row of C with the coordinates of point i. Without At, it is row i.
	At []int

	start  []int   // of each row of D in row and factor, and their length
	row    []int32 // of C
	factor []float64
	weight []float64
}

// AddLinks adds c_i - c_j for each link, with weight times the weight of the link: the graph
// Laplacian of the links.
func (d *Differences) AddLinks(list []links.Link, weight float64) {
	for _, l := range list {
		d.begin(l.I, weight*l.Weight)
		d.subtract(1, l.J)
	}
}

// AddResiduals adds c_i - sum_a w_ia c_a for each point i, over its neighbors a, with the given
// weight. w is n x k.
func (d *Differences) AddResiduals(near *graph.Neighbors, w blas.Matrix, weight float64) {
	for i := range near.N {
		d.begin(i, weight)
		index, _ := near.Of(i)
		for a, j := range index {
			d.subtract(w.At(i, a), int(j))
		}
	}
}

// begin starts another row with point i.
func (d *Differences) begin(i int, weight float64) {
	if len(d.start) == 0 {
		d.start = []int{0}
	}
	d.weight = append(d.weight, weight)
	d.start = append(d.start, d.start[len(d.start)-1])
	d.subtract(-1, i)
}

// subtract subtracts a multiple of point i from the last row.
func (d *Differences) subtract(factor float64, i int) {
	if d.At != nil {
		i = d.At[i]
	}
	d.row, d.factor = append(d.row, int32(i)), append(d.factor, -factor)
	d.start[len(d.start)-1]++
}

// of returns the rows of C in row k of D, and their factors.
func (d *Differences) of(k int) ([]int32, []float64) {
	lo, hi := d.start[k], d.start[k+1]
	return d.row[lo:hi], d.factor[lo:hi]
}

// Scatter adds C'D'WDC to the lower triangle of out, m x m. If each row of C is 0 beyond its first
// elements, as along the rows of a Cholesky factor, it takes less time: w^2 flops for each row of
// DC with w elements or, for m above a thousand, for each row of C, whichever are fewer. The second
// form needs such rows of C in the order of their lengths, and other rows of C after them.
func (d *Differences) Scatter(ctx context.Context, eng *engine.Engine, c, out blas.Matrix) error {
	widths := make([]int, c.Rows)
	if err := eng.Each(ctx, len(widths), block, func(i int) { widths[i] = width(c.Row(i)) }); err != nil {
		return err
	}
	first, lengths := firstRows(widths, c.Cols), d.lengths(widths)
	if d.byPoints(eng, c, first, lengths) {
		return d.addByPoints(ctx, eng, c, first, out)
	}
	return d.addRows(ctx, eng, c, lengths, out)
}

// Links adds the scatter of the links to the lower triangle of out: sum w_ij (c_i - c_j)(c_i -
// c_j)', where c_i is row i of c.
func Links(ctx context.Context, eng *engine.Engine, c blas.Matrix, list []links.Link, out blas.Matrix) error {
	var d Differences
	d.AddLinks(list, 1)
	return d.Scatter(ctx, eng, c, out)
}

// width returns the number of elements up to the last that is not 0.
func width(row []float64) int {
	n := len(row)
	for n > 0 && row[n-1] == 0 {
		n--
	}
	return n
}
