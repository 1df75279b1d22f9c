package neighborindex

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/sparse"
)

// Searcher searches the rows of an index. It is immutable and safe for concurrent use.
type Searcher struct {
	*Index
	eng     *engine.Engine
	rows    blas.Matrix
	order   []int32 // rows, those of cell c from first[c] to first[c+1]
	first   []int
	panels  []panel
	ranking *ranking
}

// Open lays the rows out by cells. They must be those from which the index was built, and must not
// change.
//
// Errors: *fault.ShapeError for rows of another shape, *fault.DataError (a value that is not
// finite, or too large), *fault.MemoryError, and ctx.Err(), wrapped. Memory: a copy of the rows,
// and 8 bytes for each; the limit counts the rows too.
func (x *Index) Open(ctx context.Context, eng *engine.Engine, rows blas.Matrix) (*Searcher, error) {
	if err := x.checkRows(rows); err != nil {
		return nil, err
	}
	if err := checkOpen(eng, rows, x.Cells(), 0); err != nil {
		return nil, err
	}
	s := &Searcher{Index: x, eng: eng, rows: rows, panels: make([]panel, x.Cells()),
		ranking: newRanking(eng, x.centers)}
	s.place()
	if err := s.pack(ctx); err != nil {
		return nil, fmt.Errorf("neighborindex: %w", err)
	}
	return s, nil
}

// checkOpen prices an open index: the rows, their copy by cells, the cell of each, and more bytes.
func checkOpen(eng *engine.Engine, rows blas.Matrix, cells int, more int64) error {
	n, d := rows.Rows, rows.Cols
	bytes := engine.MatrixBytes(n, d+1) + engine.MatrixBytes(n+cells*eng.Backend().Kernels().NR, d+1) +
		engine.MatrixBytes(cells, 2*d+32) + more
	return eng.Check(fmt.Sprintf("index of %d rows", n), bytes, "search exactly, or raise the memory limit")
}

// place orders the rows by cells.
func (s *Searcher) place() {
	s.first = make([]int, s.Cells()+1)
	for _, c := range s.cells {
		s.first[c+1]++
	}
	next := sparse.Begins(s.first)
	s.order = make([]int32, len(s.cells))
	for i, c := range s.cells {
		s.order[next[c]] = int32(i)
		next[c]++
	}
}

// size returns the number of rows of a cell.
func (s *Searcher) size(c int32) int { return s.first[c+1] - s.first[c] }

// pack makes the panels of the cells.
func (s *Searcher) pack(ctx context.Context) error {
	d, start := s.rows.Cols, make([]int, s.Cells()+1)
	for c := range s.Cells() {
		start[c+1] = start[c] + panelSize(s.eng, s.size(int32(c)), d)
	}
	memory := s.eng.NewMatrix(1, start[s.Cells()]).Data
	return s.eng.For(ctx, s.Cells(), 16, func(lo, hi int) error {
		for c := lo; c < hi; c++ {
			own := s.order[s.first[c]:s.first[c+1]]
			vectors := s.eng.GetMatrix(len(own), d+1)
			for k, i := range own {
				copy(vectors.Row(k), s.rows.Row(int(i)))
			}
			k := s.panels[c].pack(s.eng, vectors, s.centers.Row(c), memory[start[c]:start[c+1]],
				largestSquare)
			s.eng.PutMatrix(vectors)
			if k >= 0 {
				return tooFar(s.rows.Row(int(own[k])), int(own[k]))
			}
		}
		return nil
	})
}

// Among returns the k nearest other rows of each row, as [neighbors.Search] does, with a share
// recall < 1 of the exact ones: by an index of usual size, which is built with seed 1.
//
// Errors, cost and memory are those of [Build], [Index.Probes], [Index.Open] and [Searcher.Search].
func Among(ctx context.Context, eng *engine.Engine, rows blas.Matrix, k int,
	recall float64) (index []int32, dist2 []float64, err error) {
	x, err := Build(ctx, eng, rows, Source{}, Options{Neighbors: k, Seed: 1})
	if err != nil {
		return nil, nil, err
	}
	probes, err := x.Probes(recall)
	if err != nil {
		return nil, nil, err
	}
	s, err := x.Open(ctx, eng, rows)
	if err != nil {
		return nil, nil, err
	}
	if index, dist2, err = s.Search(ctx, rows, k+1, probes); err != nil {
		return nil, nil, err
	}
	for i := range rows.Rows { // without the row itself, or the last one
		to, from, skipped := i*k, i*(k+1), 0
		for r := range k {
			if index[from+r] == int32(i) {
				skipped = 1
			}
			index[to+r], dist2[to+r] = index[from+r+skipped], dist2[from+r+skipped]
		}
	}
	return index[:rows.Rows*k], dist2[:rows.Rows*k], nil
}

// batchRows is the number of queries that are searched at a time: the more there are, the more
// visit a cell together.
const batchRows = 1 << 14

// Search returns, for each row of queries (q x d), the k nearest rows of the index among those of
// the nearest probes cells, in the form of [neighbors.Search]: the neighbors of query i are
// index[i*k : (i+1)*k], nearest first, equal distances in the order of their rows. If the nearest
// cells of a query have fewer than k rows, the next ones are probed too.
//
// Errors: *fault.ParamError (k or probes), *fault.ShapeError (number of columns), *fault.DataError
// (a value that is not finite, or too large), *fault.MemoryError, and ctx.Err(), wrapped. Cost: for
// m cells about 2qd(m + probes n/m) flops. Memory: the result, 16 bytes for each of the probes of
// 16,384 queries, and for each worker 1 KiB for each cell, at least 576 KiB.
func (s *Searcher) Search(ctx context.Context, queries blas.Matrix, k,
	probes int) (index []int32, dist2 []float64, err error) {
	switch {
	case queries.Cols != s.rows.Cols:
		return nil, nil, fault.Shape("number of columns of the queries", queries.Cols,
			"%d, as the rows have", s.rows.Cols)
	case k < 1 || k > s.Rows():
		return nil, nil, fault.Param("neighbors", k, "a number from 1 to %d, the number of rows", s.Rows())
	case probes < 1 || probes > s.Cells():
		return nil, nil, fault.Param("probes", probes,
			"a number from 1 to %d, the number of cells", s.Cells())
	}
	q, d := queries.Rows, queries.Cols
	batch := min(q, batchRows)
	bytes := engine.MatrixBytes(q, k)*3/2 + 2*engine.MatrixBytes(batch, 2*(probes+k+spare)+d+10) +
		engine.MatrixBytes(min(batch, s.poorRows()), s.Cells()) +
		int64(s.eng.Workers())*stripBytes(d, max(tileCols, s.Cells()))
	if err := s.eng.Check(fmt.Sprintf("search for %d neighbors of %d rows", k, q), bytes,
		"search with fewer rows at a time"); err != nil {
		return nil, nil, err
	}
	index, dist2 = make([]int32, q*k), make([]float64, q*k)
	for lo := 0; lo < q; lo += batch {
		hi := min(lo+batch, q)
		v := &visit{Searcher: s, k: k, probes: probes, at: lo}
		if err := v.search(ctx, queries.View(lo, hi, 0, d), index[lo*k:hi*k], dist2[lo*k:hi*k]); err != nil {
			if !fault.IsInput(err) {
				err = fmt.Errorf("neighborindex: search: %w", err)
			}
			return nil, nil, err
		}
	}
	return index, dist2, nil
}

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
	choosers := sync.Pool{New: func() any {
		return newChooser(v.eng.Backend().Kernels(), v.Cells(), v.probes)
	}}
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
	v.order = points.UpTo(queries.Rows)
	slices.SortStableFunc(v.order, func(a, b int) int {
		return int(v.cells[a*v.probes]) - int(v.cells[b*v.probes])
	})
	v.queries = v.eng.GetMatrix(queries.Rows, queries.Cols)
	queries.SelectTo(v.queries, v.order)
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
	next := sparse.Begins(first)
	visitors := make([]int32, first[v.Cells()])
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
			s.scan(&v.panels[g.cell], len(g.queries), query,
				func(r, j int, distances []float64, norm, slack float64) {
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
		v.lists.Row(a, distances, norm, slack, func(at int) (int32, float64) {
			return rows[at], v.exact(a, rows[at])
		})
		return
	}
	v.lists.Row(a, distances, norm, 0, func(at int) (int32, float64) {
		return rows[at], distances[at] + norm
	})
}

// exact returns the squared distance of query a from row j.
func (v *visit) exact(a int, j int32) float64 {
	return points.SquaredDistance(v.queries.Row(a), v.rows.Row(int(j)))
}

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
	v.queries.SelectTo(queries, some)
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
	slices.SortFunc(order, func(b, c int32) int {
		return cmp.Or(cmp.Compare(number[b], number[c]), cmp.Compare(b, c))
	})
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
