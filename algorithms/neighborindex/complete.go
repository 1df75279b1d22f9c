package neighborindex

import (
	"cmp"
	"context"
	"slices"
)

// poorRows returns how many queries without enough rows are worked on at a time.
func (x *Index) poorRows() int { return min(256, max(1, (1<<20)/x.Cells())) }

// complete visits more cells for queries whose nearest have fewer than k rows.
func (v *visit) complete(ctx context.Context) error {
	var poor []int
	for a := range v.order {
		if v.rowsOf(v.nearest(a)) < v.k {
			poor = append(poor, a)
		}
	}
	for some := range slices.Chunk(poor, v.poorRows()) {
		if err := v.extend(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// nearest returns the cells that query a has visited.
func (v *visit) nearest(a int) []int32 {
	i := v.order[a]
	return v.cells[i*v.probes : (i+1)*v.probes]
}

// rowsOf returns the number of rows of cells.
func (v *visit) rowsOf(cells []int32) (rows int) {
	for _, c := range cells {
		rows += v.size(c)
	}
	return rows
}

// extend visits as many more cells as the queries need, the nearest first.
func (v *visit) extend(ctx context.Context, some []int) error {
	queries := v.eng.GetMatrix(len(some), v.queries.Cols)
	defer v.eng.PutMatrix(queries)
	for r, a := range some {
		copy(queries.Row(r), v.queries.Row(a))
	}
	numbers := v.eng.GetMatrix(len(some), v.Cells())
	defer v.eng.PutMatrix(numbers)
	err := v.ranking.order(ctx, queries, 0, func(i int, own []float64) { copy(numbers.Row(i), own) })
	if err != nil {
		return err
	}
	groups := make([][]group, len(some))
	err = v.eng.Each(ctx, len(some), 1, func(r int) { groups[r] = v.next(some[r], numbers.Row(r)) })
	if err != nil {
		return err
	}
	return v.compare(ctx, slices.Concat(groups...))
}

// next returns the visits of query a after those of the nearest cells, until it has k rows. number
// orders the cells.
func (v *visit) next(a int, number []float64) (groups []group) {
	order := make([]int32, len(number))
	for c := range order {
		order[c] = int32(c)
	}
	slices.SortFunc(order, func(b, c int32) int { return cmp.Or(cmp.Compare(number[b], number[c]), cmp.Compare(b, c)) })
	rows := v.rowsOf(v.nearest(a))
	for _, c := range order[v.probes:] {
		if rows >= v.k {
			break
		}
		groups = append(groups, group{c, []int32{int32(a)}})
		rows += v.size(c)
	}
	return groups
}
