package neighborindex

import (
	"context"
	"slices"
	"sync"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/points"
)

// visit is the search of a batch of queries. Lists have rounded distances and a few rows to spare,
// so that exact distances, whose rows are seldom in a cache, are needed at the end only, for about
// k rows. Queries with more rows near the last distance than there are to spare, such as equal
// rows, are searched again with exact distances from the start.
type visit struct {
	*Searcher
	k, probes int
	at        int  // number of the first query
	eager     bool // whether exact distances decide at once, and not at the end

	order   []int          // queries, those with the same nearest cell together
	queries blas.Matrix    // in this order
	cells   []int32        // probes cells of each query as it came
	lists   *graph.Lists   // of each query in this order
	slack   []float64      // the largest error of a rounded distance of each query
	locks   [64]sync.Mutex // of the lists
}

// search compares the queries with the rows of the nearest cell, then, within the distances that
// are found there, with those of a few more, and then with those of the others.
func (v *visit) search(ctx context.Context, queries blas.Matrix, index []int32, dist2 []float64) error {
	if err := v.rank(ctx, queries); err != nil {
		return err
	}
	v.sort(queries)
	defer v.eng.PutMatrix(v.queries)
	length := v.k
	if !v.eager {
		length += spare
	}
	var err error
	if v.lists, err = graph.NewLists(v.eng, queries.Rows, length, tileCols); err != nil {
		return err
	}
	v.slack = make([]float64, queries.Rows)
	for _, ranks := range [][2]int{{0, 1}, {1, v.early()}, {v.early(), v.probes}} {
		if err := v.compare(ctx, v.group(ranks[0], ranks[1])); err != nil {
			return err
		}
	}
	if err := v.complete(ctx); err != nil {
		return err
	}
	if v.eager {
		for a, i := range v.order {
			found, squared := v.lists.Of(a)
			copy(index[i*v.k:], found)
			copy(dist2[i*v.k:], squared)
		}
		return nil
	}
	return v.settle(ctx, queries, index, dist2)
}

// rank finds the nearest cells of each query.
func (v *visit) rank(ctx context.Context, queries blas.Matrix) error {
	v.cells = make([]int32, queries.Rows*v.probes)
	choosers := sync.Pool{New: func() any { return newChooser(v.eng.Backend().Kernels(), v.Cells(), v.probes) }}
	return v.ranking.order(ctx, queries, v.at, func(i int, numbers []float64) {
		c := choosers.Get().(*chooser)
		c.choose(numbers, v.early(), v.cells[i*v.probes:(i+1)*v.probes])
		choosers.Put(c)
	})
}

// early returns the number of cells, the nearest, whose rows are compared before the others: most
// neighbors are there, so that few rows of the others are near enough to be kept for a while.
func (v *visit) early() int { return (v.probes + 7) / 8 }

// sort copies the queries so that those that visit the same cells are near each other in memory.
func (v *visit) sort(queries blas.Matrix) {
	v.order = make([]int, queries.Rows)
	for i := range v.order {
		v.order[i] = i
	}
	slices.SortStableFunc(v.order, func(a, b int) int { return int(v.cells[a*v.probes]) - int(v.cells[b*v.probes]) })
	v.queries = v.eng.GetMatrix(queries.Rows, queries.Cols)
	for a, i := range v.order {
		copy(v.queries.Row(a), queries.Row(i))
	}
}

// group is queries that visit a cell.
type group struct {
	cell    int32
	queries []int32
}

// group returns the visits of cells of the ranks [lo, hi), in groups of up to stripRows.
func (v *visit) group(lo, hi int) []group {
	first := make([]int, v.Cells()+1)
	each := func(f func(query, cell int32)) {
		for a, i := range v.order {
			for _, c := range v.cells[i*v.probes+lo : i*v.probes+hi] {
				f(int32(a), c)
			}
		}
	}
	each(func(_, c int32) { first[c+1]++ })
	for c := range v.Cells() {
		first[c+1] += first[c]
	}
	visitors, next := make([]int32, first[v.Cells()]), slices.Clone(first)
	each(func(query, c int32) {
		visitors[next[c]] = query
		next[c]++
	})
	var groups []group
	for c := range v.Cells() {
		for some := range slices.Chunk(visitors[first[c]:first[c+1]], stripRows) {
			groups = append(groups, group{int32(c), some})
		}
	}
	return groups
}

// compare compares the queries of groups with the rows of their cells.
func (v *visit) compare(ctx context.Context, groups []group) error {
	const together = 8 // groups, for each of which a strip would cost too much
	return v.eng.For(ctx, len(groups), together, func(lo, hi int) error {
		s := newStrip(v.eng, v.queries.Cols, tileCols)
		defer s.release()
		for _, g := range groups[lo:hi] {
			own := v.Searcher.order[v.first[g.cell]:]
			query := func(r int) []float64 { return v.queries.Row(int(g.queries[r])) }
			s.scan(&v.panels[g.cell], len(g.queries), query, func(r, j int, distances []float64, norm, slack float64) {
				v.offer(int(g.queries[r]), own[j:], distances, norm, slack)
			})
		}
		return nil
	})
}

// spare is the number of rows in a list in addition to k.
const spare = 4

// offer offers rows to a query. Other cells may do the same at this time.
func (v *visit) offer(a int, rows []int32, distances []float64, norm, slack float64) {
	lock := &v.locks[a%len(v.locks)]
	lock.Lock()
	defer lock.Unlock()
	v.slack[a] = max(v.slack[a], slack)
	if v.eager {
		v.lists.Row(a, distances, norm, slack, func(at int) (int32, float64) { return rows[at], v.exact(a, rows[at]) })
		return
	}
	v.lists.Row(a, distances, norm, 0, func(at int) (int32, float64) { return rows[at], distances[at] + norm })
}

// exact returns the squared distance of query a from row j.
func (v *visit) exact(a int, j int32) float64 {
	return points.SquaredDistance(v.queries.Row(a), v.rows.Row(int(j)))
}
