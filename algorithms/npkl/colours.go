package npkl

import (
	"context"

	"github.com/mustlink/mustlink/algorithms/internal/graphkernel"
)

// colours holds the points in classes without an edge or link within: the rows of a class are updated
// together, each to the minimiser over it whatever happens to the others of the class.
type colours struct {
	order []int32 // the points, class by class
	start []int   // of every class in order, and the end
}

// colour takes the points in their order, and for each the first class without a neighbour. O(edges).
func colour(p *graphkernel.Problem) *colours {
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
	out := &colours{order: make([]int32, n), start: make([]int, count+1)}
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

// together is the number of rows that one task takes.
const together = 64

func (o *colours) sweep(ctx context.Context, d *descent) (tally, error) {
	var total tally
	for c := range len(o.start) - 1 {
		rows := o.order[o.start[c]:o.start[c+1]]
		parts := make([]tally, (len(rows)+together-1)/together)
		err := d.eng.For(ctx, len(rows), together, func(lo, hi int) error {
			k := d.blocks.Get().(*block)
			defer d.blocks.Put(k)
			for _, i := range rows[lo:hi] {
				d.N.Pull(d.eng, int(i), int(i)+1, d.v, k.pulled)
				parts[lo/together].add(d.move(k, int(i), k.pulled))
			}
			return nil
		})
		if err != nil {
			return total, err
		}
		for _, t := range parts {
			total.add(t)
		}
	}
	var err error
	total.value, err = d.Objective(ctx, d.eng, d.v)
	return total, err
}
