package scatter

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
)

// block is the number of rows that addRows buffers at a time.
const block = 512

// addRows computes rows of DC, which have the given lengths, the shortest first, and adds their
// squares.
func (d *Differences) addRows(ctx context.Context, eng *engine.Engine, c blas.Matrix, lengths []int, out blas.Matrix) error {
	order := make([]int, len(lengths))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lengths[a], lengths[b]) })
	rows := eng.GetMatrix(min(block, len(order)), out.Cols)
	defer eng.PutMatrix(rows)
	for some := range slices.Chunk(order, block) {
		m := lengths[some[len(some)-1]]
		err := eng.Each(ctx, len(some), 16, func(k int) { d.write(eng, rows.Row(k)[:m], some[k], c) })
		if err != nil {
			return err
		}
		eng.Backend().Syrk(true, 1, rows.View(0, len(some), 0, m), 1, out.View(0, m, 0, m))
	}
	return ctx.Err()
}

// write computes the first elements of row k of DC, times the square root of its weight.
func (d *Differences) write(eng *engine.Engine, to []float64, k int, c blas.Matrix) {
	rows, factors := d.of(k)
	t := eng.Backend().Kernels()
	copy(to, c.Row(int(rows[0])))
	for a, j := range rows[1:] {
		t.Axpy(factors[1+a], c.Row(int(j))[:len(to)], to)
	}
	if d.weight[k] != 1 {
		t.Scale(math.Sqrt(d.weight[k]), to)
	}
}

// lengths returns the number of elements of each row of DC that may not be 0.
func (d *Differences) lengths(widths []int) []int {
	lengths := make([]int, len(d.weight))
	for k := range lengths {
		rows, _ := d.of(k)
		for _, j := range rows {
			lengths[k] = max(lengths[k], widths[j])
		}
	}
	return lengths
}
