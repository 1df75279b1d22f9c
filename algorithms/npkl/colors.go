package npkl

import (
	"context"
	"slices"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
)

// colors sweeps over the points class by class. Points of a class share no edge and no link, so
// their rows are updated together: the minimizer over one does not depend on the others. The
// points are in the order of the classes, so the neighbors before a class are already updated, and
// their sums also give the objective.
type colors struct {
	start []int // of every class, then the end
	// cuts has, for every point, the index of its first neighbor in the graph and of the first
	// neighbor from its own class on. Rows 2i and 2i+1 of a product are the sums of the earlier and
	// of the later neighbors.
	cuts []int
}

// classes is an order of the points, class by class.
type classes struct {
	order []int32
	start []int // of every class in order, then the end
}

// color goes through the points in their order and gives each the first class without a neighbor.
// Cost: O(edges), on one core because each class depends on those before.
func color(p *graphkernel.Problem) classes {
	n := p.Len()
	class, taken, count := make([]int32, n), []int{}, 0
	for i := range class {
		class[i] = -1
	}
	mark := func(i, j int) {
		if c := class[j]; c >= 0 {
			taken[c] = i
		}
	}
	for i := range n {
		col, _ := p.N.Sparse.Row(i)
		for _, j := range col {
			mark(i, int(j))
		}
		lo, hi := p.Links(i)
		for _, j := range p.To[lo:hi] {
			mark(i, int(j))
		}
		c := 0
		for c < count && taken[c] == i {
			c++
		}
		if c == count {
			taken = append(taken, -1)
			count++
		}
		class[i] = int32(c)
	}
	out := classes{order: make([]int32, n), start: make([]int, count+1)}
	for _, c := range class {
		out.start[c+1]++
	}
	for c := range count {
		out.start[c+1] += out.start[c]
	}
	next := append([]int(nil), out.start...)
	for i, c := range class {
		out.order[next[c]] = int32(i)
		next[c]++
	}
	return out
}

// newColors returns the sweeper of a problem whose points are in the order of their classes.
func newColors(p *graphkernel.Problem, start []int) *colors {
	o := &colors{start: start, cuts: make([]int, 0, 2*p.Len()+1)}
	for c := range len(start) - 1 {
		for i := start[c]; i < start[c+1]; i++ {
			col, _ := p.N.Sparse.Row(i)
			earlier, _ := slices.BinarySearch(col, int32(start[c]))
			o.cuts = append(o.cuts, p.N.Sparse.Start[i], p.N.Sparse.Start[i]+earlier)
		}
	}
	o.cuts = append(o.cuts, p.N.Sparse.Count())
	return o
}

// rowsPerTask is the number of rows that one task updates. Classes have some hundred points, so
// that more of them would leave workers idle.
const rowsPerTask = 32

func (o *colors) sweep(ctx context.Context, d *descent) (tally, error) {
	var total tally
	for c := range len(o.start) - 1 {
		first, count := o.start[c], o.start[c+1]-o.start[c]
		parts := make([]tally, (count+rowsPerTask-1)/rowsPerTask)
		err := d.eng.For(ctx, count, rowsPerTask, func(lo, hi int) error {
			k := d.blocks.Get().(*block)
			defer d.blocks.Put(k)
			parts[lo/rowsPerTask] = o.rows(d, k, first+lo, first+hi)
			return nil
		})
		if err != nil {
			return total, err
		}
		for _, t := range parts {
			total.add(t)
		}
	}
	return total, nil
}

// rows updates the points [lo, hi), of one class.
func (o *colors) rows(d *descent, k *block, lo, hi int) tally {
	var t tally
	n, r := d.N.Sparse, d.v.Cols
	if need := 2 * (hi - lo) * r; len(k.sums) < need {
		k.sums = make([]float64, 2*rowsPerTask*r)
	}
	d.eng.Backend().Kernels().SparseRows(o.cuts[2*lo:2*hi+1], n.Col, n.Val, d.v.Data, r, r, k.sums, r)
	for i := lo; i < hi; i++ {
		earlier, later := k.sums[2*(i-lo)*r:][:r], k.sums[(2*(i-lo)+1)*r:][:r]
		for c, x := range earlier {
			k.pulled[c] = x + later[c]
		}
		t.add(d.move(k, i, k.pulled))
		row := d.v.Row(i)
		t.value += d.Diag[i]*graphkernel.Dot(row, row) - 2*graphkernel.Dot(row, earlier) + d.Losses(i, d.v)
	}
	return t
}
