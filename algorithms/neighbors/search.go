package neighbors

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// Blocks of the distance computation: 64 queries against 1024 rows at a time, 512 KiB of
// products, which stay in the cache until they are filtered.
const (
	queryBlock = 64
	trainBlock = 1024
)

// Search finds, for each row of query (q x d), the k rows of train (n x d) at the smallest
// squared distance. Row i's neighbours are index[i*k : (i+1)*k], nearest first, equal
// distances in the order of their rows, and dist2 holds the squared distances alike.
//
// With excludeSelf, query is the same set of rows as train (q == n), and row i is no
// neighbour of itself; another row equal to it is.
//
// Errors: *fault.ParamError (k < 1 or k above the number of candidates), *fault.ShapeError
// (numbers of columns, or of rows with excludeSelf), *fault.DataError (a value that is not
// finite), *fault.MemoryError, and ctx.Err(), wrapped. Cost: 2qnd flops. Memory: a copy of
// train, the answer, and 600 KiB a worker.
func Search(ctx context.Context, eng *engine.Engine, query, train blas.Matrix, k int, excludeSelf bool) (index []int32, dist2 []float64, err error) {
	if err := check(query, train, k, excludeSelf); err != nil {
		return nil, nil, err
	}
	q, n, d := query.Rows, train.Rows, train.Cols
	bytes := engine.MatrixBytes(n, d+1) + engine.MatrixBytes(q, k)*3/2 +
		int64(eng.Workers())*engine.MatrixBytes(queryBlock, trainBlock+d)
	if err := eng.Check(fmt.Sprintf("search for %d neighbours of %d rows", k, q), bytes, "search with fewer rows at a time"); err != nil {
		return nil, nil, err
	}
	s := newSearcher(eng, query, train, k, excludeSelf)
	if err := s.checkRange(); err != nil {
		return nil, nil, err
	}
	s.index, s.dist2 = make([]int32, q*k), make([]float64, q*k)
	err = eng.For(ctx, q, queryBlock, func(lo, hi int) error { return s.block(ctx, lo, hi) })
	if err != nil {
		return nil, nil, fmt.Errorf("neighbors: search: %w", err)
	}
	return s.index, s.dist2, nil
}

func check(query, train blas.Matrix, k int, excludeSelf bool) error {
	if query.Cols != train.Cols {
		return &fault.ShapeError{What: "number of columns of the queries", Got: query.Cols, Want: fmt.Sprintf("%d, as the training rows have", train.Cols)}
	}
	candidates, of := train.Rows, "the number of training rows"
	if excludeSelf {
		if query.Rows != train.Rows {
			return &fault.ShapeError{What: "number of queries", Got: query.Rows, Want: fmt.Sprintf("%d, the rows themselves", train.Rows)}
		}
		candidates, of = max(0, candidates-1), "the number of other rows"
	}
	switch {
	case train.Rows > math.MaxInt32:
		return &fault.ShapeError{What: "number of training rows", Got: train.Rows, Want: fmt.Sprintf("at most %d", math.MaxInt32)}
	case k < 1:
		return &fault.ParamError{Param: "neighbors", Value: k, Want: "a number >= 1"}
	case k > candidates:
		return &fault.ParamError{Param: "neighbors", Value: k, Want: fmt.Sprintf("at most %s, %d", of, candidates)}
	}
	if err := checkFinite("training rows", train); err != nil {
		return err
	}
	return checkFinite("queries", query)
}

func checkFinite(what string, x blas.Matrix) error {
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return &fault.DataError{Row: i, Column: strconv.Itoa(j), Err: fmt.Errorf("value of the %s is %v: want a finite number", what, v)}
			}
		}
	}
	return nil
}

// errOverflow reports a query one of whose neighbours is infinitely far in float64.
var errOverflow = errors.New("values are too large, their squared distances overflow: want smaller ones (scale the data)")

// searcher is one search. Each block of queries has its rows of the answer to itself.
type searcher struct {
	eng          *engine.Engine
	query, train blas.Matrix
	k            int
	excludeSelf  bool

	shift  []float64   // the mean of train
	moved  blas.Matrix // train less shift
	norm   []float64   // squared norms of moved
	widest []float64   // the largest of them in each block of train
	margin float64     // see slack

	index []int32
	dist2 []float64
}

func newSearcher(eng *engine.Engine, query, train blas.Matrix, k int, excludeSelf bool) *searcher {
	s := &searcher{eng: eng, query: query, train: train, k: k, excludeSelf: excludeSelf,
		shift: make([]float64, train.Cols), moved: eng.NewMatrix(train.Rows, train.Cols), norm: make([]float64, train.Rows)}
	for i := range train.Rows {
		for j, v := range train.Row(i) {
			s.shift[j] += v / float64(train.Rows)
		}
	}
	for i := range train.Rows {
		s.norm[i] = s.move(s.moved.Row(i), train.Row(i))
		if i%trainBlock == 0 {
			s.widest = append(s.widest, 0)
		}
		s.widest[i/trainBlock] = max(s.widest[i/trainBlock], s.norm[i])
	}
	s.margin = slack(train.Cols)
	return s
}

// checkRange refuses rows that differ by so little that the squares of differences vanish: no neighbour could be told from
// another one.
func (s *searcher) checkRange() error {
	widest := 0.0
	for _, v := range s.widest {
		widest = max(widest, v)
	}
	const vanishing = 0x1p-900
	if !(widest < vanishing) {
		return nil
	}
	for i := range s.train.Rows {
		for j, v := range s.train.Row(i) {
			if v != s.train.At(0, j) {
				return &fault.DataError{Row: i, Column: strconv.Itoa(j), Err: fmt.Errorf("value of the training rows is %g, that of row 0 %g, and no two differ by much more: want differences whose squares do not vanish (scale the data)", v, s.train.At(0, j))}
			}
		}
	}
	return nil
}

// move writes x less the shift into dst and returns its squared norm.
func (s *searcher) move(dst, x []float64) float64 {
	norm := 0.0
	for j, v := range x {
		dst[j] = v - s.shift[j]
		norm += dst[j] * dst[j]
	}
	return norm
}

// slack is the factor of |q|^2 + |t|^2 (both moved) that bounds the difference between a
// squared distance computed by expansion and by the direct sum. Moving rounds coordinates
// by u relative, which changes the true distance by at most 4u(|q|^2 + |t|^2); norms and the
// product err by 2(d+2)u(...), whatever the order of summation; the direct sum by
// (d+3)u |q-t|^2 <= 2(d+3)u(...). 8(d+8)u leaves half of it to spare.
func slack(d int) float64 { return 8 * float64(d+8) * 0x1p-53 }

// block answers the queries [lo, hi).
func (s *searcher) block(ctx context.Context, lo, hi int) error {
	d := s.train.Cols
	queries := s.eng.GetMatrix(hi-lo, d)
	defer s.eng.PutMatrix(queries)
	heaps := make([]heap, hi-lo)
	norms := make([]float64, hi-lo)
	for a := range heaps {
		i := lo + a
		norms[a] = s.move(queries.Row(a), s.query.Row(i))
		heaps[a] = heap{index: s.index[i*s.k : i*s.k : (i+1)*s.k], dist2: s.dist2[i*s.k : i*s.k : (i+1)*s.k]}
	}
	for from := 0; from < s.train.Rows; from += trainBlock {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(s.train.Rows, from+trainBlock)
		dots := s.eng.GetMatrix(hi-lo, to-from)
		s.eng.Backend().Gemm(false, true, 1, queries, s.moved.View(from, to, 0, d), 0, dots)
		for a := range heaps {
			s.filter(&heaps[a], lo+a, norms[a], dots.Row(a), from)
		}
		s.eng.PutMatrix(dots)
	}
	for a := range heaps {
		heaps[a].sort()
		if math.IsInf(heaps[a].dist2[s.k-1], 1) {
			return &fault.DataError{Row: lo + a, Err: errOverflow}
		}
	}
	return nil
}

// filter offers to h the rows from, from+1, … whose products with query i are in dots,
// except those that cannot be among the k nearest. Rows come in ascending order, so one at
// exactly the worst distance held loses its tie and may be passed over.
func (s *searcher) filter(h *heap, i int, norm float64, dots []float64, from int) {
	query := s.query.Row(i)
	widest := s.widest[from/trainBlock]
	limit := s.limit(h, norm, widest)
	for b, dot := range dots {
		// Written so that a NaN, from squares that overflow, is not passed over.
		if s.norm[from+b]-2*dot > limit {
			continue
		}
		j := from + b
		if s.excludeSelf && j == i {
			continue
		}
		if h.offer(s.k, int32(j), points.SquaredDistance(query, s.train.Row(j))) {
			limit = s.limit(h, norm, widest)
		}
	}
}

// limit returns the value of |t|^2 - 2q't above which no row of a block whose largest
// squared norm is widest can be nearer than the worst row in h.
func (s *searcher) limit(h *heap, norm, widest float64) float64 {
	if len(h.index) < s.k {
		return math.Inf(1)
	}
	return h.dist2[0] - norm + s.margin*(norm+widest)
}

// heap holds the nearest rows seen so far, the worst one at the top: worst by distance,
// then by row. It fills the slices it is given, which have room for k entries.
type heap struct {
	index []int32
	dist2 []float64
}

// worse reports whether entry a comes after entry b in the answer.
func (h *heap) worse(a, b int) bool {
	return h.dist2[a] > h.dist2[b] || (h.dist2[a] == h.dist2[b] && h.index[a] > h.index[b])
}

func (h *heap) swap(a, b int) {
	h.index[a], h.index[b] = h.index[b], h.index[a]
	h.dist2[a], h.dist2[b] = h.dist2[b], h.dist2[a]
}

// offer enters row j at squared distance d, pushing out the worst of more than k, and
// reports whether the worst distance may have changed. Rows must come in ascending order:
// then one at exactly the worst distance held loses its tie.
func (h *heap) offer(k int, j int32, d float64) bool {
	if n := len(h.index); n < k {
		h.index, h.dist2 = append(h.index, j), append(h.dist2, d)
		for n > 0 && h.worse(n, (n-1)/2) {
			h.swap(n, (n-1)/2)
			n = (n - 1) / 2
		}
		return true
	}
	if d >= h.dist2[0] {
		return false
	}
	h.index[0], h.dist2[0] = j, d
	h.sink(k)
	return true
}

// sink restores the order of the first n entries below the top.
func (h *heap) sink(n int) {
	at := 0
	for {
		child := 2*at + 1
		if child >= n {
			return
		}
		if child+1 < n && h.worse(child+1, child) {
			child++
		}
		if !h.worse(child, at) {
			return
		}
		h.swap(child, at)
		at = child
	}
}

// sort turns the heap into the answer, nearest first.
func (h *heap) sort() {
	for n := len(h.index) - 1; n > 0; n-- {
		h.swap(0, n)
		h.sink(n)
	}
}
