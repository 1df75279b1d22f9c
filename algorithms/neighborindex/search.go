package neighborindex

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/tile"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/points"
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
// Errors: *fault.ShapeError for rows of another shape, *fault.DataError (a value that is not finite,
// or too large), *fault.MemoryError, and ctx.Err(), wrapped. Memory: a copy of the rows.
func (x *Index) Open(ctx context.Context, eng *engine.Engine, rows blas.Matrix) (*Searcher, error) {
	if err := x.checkRows(rows); err != nil {
		return nil, err
	}
	t := eng.Backend().Kernels()
	n, d, cells := rows.Rows, rows.Cols, x.Cells()
	bytes := engine.MatrixBytes(n+cells*t.NR, d+1) + int64(4*n) + engine.MatrixBytes(cells, 2*d+32)
	if err := eng.Check(fmt.Sprintf("index of %d rows", n), bytes, "search exactly, or raise the memory limit"); err != nil {
		return nil, err
	}
	s := &Searcher{Index: x, eng: eng, rows: rows, panels: make([]panel, cells), ranking: newRanking(eng, x.centers)}
	s.place()
	if err := s.pack(ctx); err != nil {
		return nil, fmt.Errorf("neighborindex: %w", err)
	}
	return s, nil
}

// place orders the rows by cells.
func (s *Searcher) place() {
	s.first = make([]int, s.Cells()+1)
	for _, c := range s.cells {
		s.first[c+1]++
	}
	for c := range s.Cells() {
		s.first[c+1] += s.first[c]
	}
	s.order = make([]int32, len(s.cells))
	next := slices.Clone(s.first)
	for i, c := range s.cells {
		s.order[next[c]] = int32(i)
		next[c]++
	}
}

// size returns the number of rows of a cell.
func (s *Searcher) size(c int32) int { return s.first[c+1] - s.first[c] }

// pack makes the panels of the cells.
func (s *Searcher) pack(ctx context.Context) error {
	t, d := s.eng.Backend().Kernels(), s.rows.Cols
	start := make([]int, s.Cells()+1)
	for c := range s.Cells() {
		start[c+1] = start[c] + tile.RightSize(t, s.size(int32(c)), d)
	}
	memory, norm := s.eng.NewMatrix(1, start[s.Cells()]).Data, make([]float64, len(s.cells))
	return s.eng.For(ctx, s.Cells(), 16, func(lo, hi int) error {
		for c := lo; c < hi; c++ {
			own := s.order[s.first[c]:s.first[c+1]]
			vectors := s.eng.GetMatrix(len(own), d)
			for k, i := range own {
				copy(vectors.Row(k), s.rows.Row(int(i)))
			}
			s.panels[c].pack(s.eng, vectors, s.centers.Row(c), memory[start[c]:start[c+1]], norm[s.first[c]:s.first[c+1]])
			s.eng.PutMatrix(vectors)
			for k, i := range own {
				if !(s.panels[c].norm[k] <= largestSquare) {
					return tooFar(s.rows.Row(int(i)), int(i))
				}
			}
		}
		return nil
	})
}

// batchRows is the number of queries that are searched at a time: the more there are, the more
// visit a cell together.
const batchRows = 1 << 14

// Search returns, for each row of queries (q x d), the k nearest rows of the index among those of
// the nearest probes cells, in the form of [neighbors.Search]: the neighbors of query i are
// index[i*k : (i+1)*k], nearest first, equal distances in the order of their rows. It probes more
// cells if so many could have fewer than k rows.
//
// Errors: *fault.ParamError (k or probes), *fault.ShapeError (number of columns), *fault.DataError (a
// value that is not finite, or too large), *fault.MemoryError, and ctx.Err(), wrapped. Cost: for m
// cells about 2qd(m + probes n/m) flops. Memory: the result, 16 bytes for each of the probes of
// 16,384 queries, and 300 KiB for each worker.
func (s *Searcher) Search(ctx context.Context, queries blas.Matrix, k, probes int) (index []int32, dist2 []float64, err error) {
	switch {
	case queries.Cols != s.rows.Cols:
		return nil, nil, &fault.ShapeError{What: "number of columns of the queries", Got: queries.Cols, Want: fmt.Sprintf("%d, as the rows have", s.rows.Cols)}
	case k < 1 || k > s.Rows():
		return nil, nil, &fault.ParamError{Param: "neighbors", Value: k, Want: fmt.Sprintf("a number from 1 to %d, the number of rows", s.Rows())}
	case probes < 1 || probes > s.Cells():
		return nil, nil, &fault.ParamError{Param: "probes", Value: probes, Want: fmt.Sprintf("a number from 1 to %d, the number of cells", s.Cells())}
	}
	probes = max(probes, s.fewest(k))
	q := queries.Rows
	batch := min(q, batchRows)
	bytes := engine.MatrixBytes(q, k)*3/2 + engine.MatrixBytes(batch, 2*probes+8) + int64(s.eng.Workers())*stripBytes(queries.Cols)
	if err := s.eng.Check(fmt.Sprintf("search for %d neighbors of %d rows", k, q), bytes, "search with fewer rows at a time"); err != nil {
		return nil, nil, err
	}
	lists, err := graph.NewLists(s.eng, q, k, tileCols)
	for lo := 0; lo < q && err == nil; lo += batch {
		b := &visit{Searcher: s, queries: queries, lists: lists, first: lo, count: min(batch, q-lo)}
		err = b.run(ctx, probes)
	}
	if err != nil {
		if !fault.IsInput(err) {
			err = fmt.Errorf("neighborindex: search: %w", err)
		}
		return nil, nil, err
	}
	return lists.Index, lists.Squared, nil
}

// visit is the search of some queries, from first on.
type visit struct {
	*Searcher
	queries      blas.Matrix
	lists        *graph.Lists
	first, count int
	locks        [64]sync.Mutex // of the lists, by query
}

// run compares the queries with the rows of the nearest cell, and then, within the distances that
// are found there, with those of the others.
func (v *visit) run(ctx context.Context, probes int) error {
	cells, err := v.rank(ctx, probes)
	if err != nil {
		return err
	}
	for _, part := range [][2]int{{0, 1}, {1, probes}} {
		if err := v.compare(ctx, v.group(cells, part[0], part[1])); err != nil {
			return err
		}
	}
	return nil
}

// rank returns the nearest cells of each query.
func (v *visit) rank(ctx context.Context, probes int) (*graph.Neighbors, error) {
	nearest, err := graph.NewLists(v.eng, v.count, probes, tileCols)
	if err != nil {
		return nil, err
	}
	some := v.queries.View(v.first, v.first+v.count, 0, v.queries.Cols)
	err = v.ranking.distances(ctx, some, v.first, func(i, j int, distances []float64) {
		nearest.Row(i, distances, 0, func(at int) (int32, float64) { return int32(j + at), distances[at] })
	})
	return nearest.Neighbors, err
}

// group is queries that visit a cell.
type group struct {
	cell    int32
	queries []int32
}

// group returns the visits of cells of the ranks [lo, hi), in groups of up to stripRows.
func (v *visit) group(cells *graph.Neighbors, lo, hi int) []group {
	at := make([]int, v.Cells()+1)
	each := func(f func(query, cell int32)) {
		for i := range v.count {
			for _, c := range cells.Index[i*cells.K+lo : i*cells.K+hi] {
				f(int32(v.first+i), c)
			}
		}
	}
	each(func(_, c int32) { at[c+1]++ })
	for c := range v.Cells() {
		at[c+1] += at[c]
	}
	visitors, next := make([]int32, at[v.Cells()]), slices.Clone(at)
	each(func(query, c int32) {
		visitors[next[c]] = query
		next[c]++
	})
	var groups []group
	for c := range v.Cells() {
		for some := range slices.Chunk(visitors[at[c]:at[c+1]], stripRows) {
			groups = append(groups, group{int32(c), some})
		}
	}
	return groups
}

// compare compares the queries of groups with the rows of their cells.
func (v *visit) compare(ctx context.Context, groups []group) error {
	const together = 8 // groups, for each of which a strip would cost too much
	return v.eng.For(ctx, len(groups), together, func(lo, hi int) error {
		s := newStrip(v.eng, v.queries.Cols)
		defer s.release()
		for _, g := range groups[lo:hi] {
			own := v.order[v.Searcher.first[g.cell]:]
			query := func(r int) []float64 { return v.queries.Row(int(g.queries[r])) }
			s.scan(&v.panels[g.cell], len(g.queries), query, func(r, j int, distances []float64, slack float64) {
				v.offer(int(g.queries[r]), own[j:], distances, slack)
			})
		}
		return nil
	})
}

// offer offers rows to a query. Other cells may do the same at this time.
func (v *visit) offer(i int, rows []int32, distances []float64, slack float64) {
	lock := &v.locks[i%len(v.locks)]
	lock.Lock()
	defer lock.Unlock()
	v.lists.Row(i, distances, slack, func(at int) (int32, float64) {
		j := rows[at]
		return j, points.SquaredDistance(v.queries.Row(i), v.rows.Row(int(j)))
	})
}
