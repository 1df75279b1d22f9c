package neighborindex

import (
	"context"
	"fmt"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
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
// finite, or too large), *fault.MemoryError, and ctx.Err(), wrapped. Memory: a copy of the rows.
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
			k := s.panels[c].pack(s.eng, vectors, s.centers.Row(c), memory[start[c]:start[c+1]], largestSquare)
			s.eng.PutMatrix(vectors)
			if k >= 0 {
				return tooFar(s.rows.Row(int(own[k])), int(own[k]))
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
// index[i*k : (i+1)*k], nearest first, equal distances in the order of their rows. If the nearest
// cells of a query have fewer than k rows, the next ones are probed too.
//
// Errors: *fault.ParamError (k or probes), *fault.ShapeError (number of columns), *fault.DataError
// (a value that is not finite, or too large), *fault.MemoryError, and ctx.Err(), wrapped. Cost: for
// m cells about 2qd(m + probes n/m) flops. Memory: the result, 16 bytes for each of the probes of
// 16,384 queries, and for each worker 1 KiB for each cell, at least 576 KiB.
func (s *Searcher) Search(ctx context.Context, queries blas.Matrix, k, probes int) (index []int32, dist2 []float64, err error) {
	switch {
	case queries.Cols != s.rows.Cols:
		return nil, nil, &fault.ShapeError{What: "number of columns of the queries", Got: queries.Cols, Want: fmt.Sprintf("%d, as the rows have", s.rows.Cols)}
	case k < 1 || k > s.Rows():
		return nil, nil, &fault.ParamError{Param: "neighbors", Value: k, Want: fmt.Sprintf("a number from 1 to %d, the number of rows", s.Rows())}
	case probes < 1 || probes > s.Cells():
		return nil, nil, &fault.ParamError{Param: "probes", Value: probes, Want: fmt.Sprintf("a number from 1 to %d, the number of cells", s.Cells())}
	}
	q, d := queries.Rows, queries.Cols
	batch := min(q, batchRows)
	bytes := engine.MatrixBytes(q, k)*3/2 + 2*engine.MatrixBytes(batch, 2*(probes+k+spare)+d+10) + engine.MatrixBytes(min(batch, s.poorRows()), s.Cells()) + int64(s.eng.Workers())*stripBytes(d, max(tileCols, s.Cells()))
	if err := s.eng.Check(fmt.Sprintf("search for %d neighbors of %d rows", k, q), bytes, "search with fewer rows at a time"); err != nil {
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
