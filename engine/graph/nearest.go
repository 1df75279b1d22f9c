package graph

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/sparse"
)

// Neighbors lists the K nearest points of each of N points, the nearest first, ties by index.
type Neighbors struct {
	N, K    int
	Index   []int32   // of neighbor a of point i at i*K+a
	Squared []float64 // squared distance, likewise
}

// Of returns views of the neighbors of point i and of their squared distances.
func (n *Neighbors) Of(i int) (index []int32, squared []float64) {
	return n.Index[i*n.K : (i+1)*n.K], n.Squared[i*n.K : (i+1)*n.K]
}

// Nearest returns the count nearest other points of every point of x in the feature space of k. For
// vectors and the linear kernel these are the exact Euclidean neighbors: distances that decide are
// sums of squared differences of features. For other kernels a squared distance is K_ii + K_jj - 2
// K_ij with the rounding of the kernel values.
//
// Errors: a *fault.ParamError if count is below 1 or not below the number of points; those of
// [kernel.Kernel.Gram], except that memory is needed only for n count neighbors and a copy of dense
// points. Cost: n^2 d flops (each pair once) and about 2 n count log(n/count) exact distances. An
// engine with a cache computes the result once and shares it, so nobody may write to it. The result
// is the same for any number of workers.
func Nearest(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points,
	count int) (*Neighbors, error) {
	n := x.Len()
	if count < 1 || count >= n {
		return nil, fault.Param("neighbors", count,
			"a number from 1 to %d, one less than the number of points", n-1)
	}
	key := func() engine.CacheKey { return engine.KeyOf("nearest", points.Digest(x), k, count) }
	return engine.Cached(ctx, eng, key, (*Neighbors).bytes, func() (*Neighbors, error) {
		s, err := newSearch(eng, n, n, count, between(x, x))
		if err != nil {
			return nil, err
		}
		return s.Neighbors, k.Squared().GramBlocks(ctx, eng, x, s.symmetric)
	})
}

// bytes returns the memory of the lists.
func (n *Neighbors) bytes() int64 { return int64(4*len(n.Index) + 8*len(n.Squared)) }

// NearestBetween returns the count nearest points of y for every point of x, as [Nearest] does
// within one set; points of y that equal a point of x count too. Errors: count below 1 or above the
// number of points of y, and those of [kernel.Kernel.Cross]. Cost: |x| |y| d flops. An engine with
// a cache computes the result once and shares it, so nobody may write to it.
func NearestBetween(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x, y points.Points,
	count int) (*Neighbors, error) {
	if count < 1 || count > y.Len() {
		return nil, fault.Param("neighbors", count,
			"a number from 1 to %d, the number of points to choose from", y.Len())
	}
	key := func() engine.CacheKey {
		return engine.KeyOf("nearest between", points.Digest(x), points.Digest(y), k, count)
	}
	return engine.Cached(ctx, eng, key, (*Neighbors).bytes, func() (*Neighbors, error) {
		s, err := newSearch(eng, x.Len(), y.Len(), count, between(x, y))
		if err != nil {
			return nil, err
		}
		return s.Neighbors, k.Squared().CrossBlocks(ctx, eng, x, y, s.rectangular)
	})
}

// NearestRows is [NearestBetween] for dense points under the linear kernel, or [Nearest] if y is
// nil. It also accepts points whose squared lengths overflow: then all distances are sums of
// squared differences, +Inf where these overflow too, at a cost of |x| |y| d scalar operations.
// Other errors are the same.
func NearestRows(ctx context.Context, eng *engine.Engine, x, y *points.Dense,
	count int) (found *Neighbors, err error) {
	if y == nil {
		found, err = Nearest(ctx, eng, kernel.Linear(), x, count)
	} else {
		found, err = NearestBetween(ctx, eng, kernel.Linear(), x, y, count)
	}
	if _, large := errors.AsType[*fault.DataError](err); !large {
		return found, err
	}
	among := y
	if y == nil {
		among = x
	}
	s, err := newSearch(eng, x.N, among.N, count, between(x, among))
	if err != nil {
		return nil, err
	}
	return s.Neighbors, eng.For(ctx, x.N, lockRows, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			row := make([]float64, among.N) // no information: the distances themselves decide
			if y == nil {
				row[i] = math.Inf(1)
			}
			s.row(row, i, 0, s.never, math.Inf(1))
		}
		return ctx.Err()
	})
}

// search is the state of all points' searches.
type search struct {
	*Lists
	exact func(i, j int) float64 // squared distance of point i from its candidate j
	locks []sync.Mutex
}

// lockRows is the number of points that share a lock.
const lockRows = 96

// between returns the squared distances of x and y from differences.
func between(x, y points.Points) func(i, j int) float64 {
	return func(i, j int) float64 { return kernel.SquaredDistance(x, y, i, j) }
}

// newSearch returns the state for n points that search among so many candidates.
func newSearch(eng *engine.Engine, n, among, count int, exact func(i, j int) float64) (*search, error) {
	lists, err := NewLists(eng, n, count, among)
	if err != nil {
		return nil, err
	}
	return &search{lists, exact, make([]sync.Mutex, (n+lockRows-1)/lockRows)}, nil
}

// rectangular searches a block whose rows no other goroutine has.
func (s *search) rectangular(b kernel.Block) error {
	for r := range b.Matrix.Rows {
		s.row(b.Matrix.Row(r), b.Row+r, b.Col, s.never, b.Error)
	}
	return nil
}

// symmetric searches a block of the lower triangle: left of the diagonal block an element also
// represents its mirror image.
func (s *search) symmetric(b kernel.Block) error {
	const part = 2 * lockRows // columns at a time, so that other goroutines seldom wait
	for c := 0; c < b.Matrix.Cols; c += part {
		s.columns(b, c, min(c+part, b.Matrix.Cols))
	}
	return nil
}

// columns searches columns [c0, c1) of a block.
func (s *search) columns(b kernel.Block, c0, c1 int) {
	left := max(c0, min(c1, b.Row-b.Col))
	defer s.lock(b.Col+c0, b.Col+left, b.Row, b.Row+b.Matrix.Rows)()
	for r := range b.Matrix.Rows {
		row, i := b.Matrix.Row(r), b.Row+r
		s.row(row[c0:left], i, b.Col+c0, s.limit[b.Col+c0:], b.Error)
		if self := i - b.Col; self >= left && self < c1 {
			row[self] = math.Inf(1)
		}
		s.row(row[left:c1], i, b.Col+left, s.never, b.Error)
	}
}

// lock locks the points [c0, c1) and the later points [r0, r1) and returns a function that unlocks
// them. All callers lock in ascending order, so there is no deadlock.
func (s *search) lock(c0, c1, r0, r1 int) (unlock func()) {
	var held []*sync.Mutex
	next := 0
	for _, part := range [][2]int{{c0, c1}, {r0, r1}} {
		for l := max(next, part[0]/lockRows); l*lockRows < part[1] && part[0] < part[1]; l++ {
			held = append(held, &s.locks[l])
			next = l + 1
		}
	}
	for _, l := range held {
		l.Lock()
	}
	return func() {
		for _, l := range held {
			l.Unlock()
		}
	}
}

// row offers the points from j0 on to point i, and point i to those with limits.
func (s *search) row(row []float64, i, j0 int, limits []float64, slack float64) {
	s.scan(i, row, 0, limits, func(at int) {
		j, d := j0+at, row[at]
		if slack > 0 {
			d = s.exact(i, j)
		}
		s.offer(i, j, d, slack)
		if row[at] <= limits[at] {
			s.offer(j, i, d, slack)
		}
	})
}

// Within returns the squared distances of all pairs of points that are at most radius from each
// other, in the feature space of k: an exactly symmetric n x n matrix with an empty diagonal.
// Distances are as exact as those of [Nearest]. Pairs at distance 0 are stored, with the value 0.
//
// Errors: a *fault.ParamError for a radius that is not positive and finite; those of
// [kernel.Kernel.Gram], where memory is needed for the pairs found. Cost: n^2 d flops. The result
// is the same for any number of workers.
func Within(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points,
	radius float64) (*sparse.Matrix, error) {
	if !(radius > 0) || math.IsInf(radius, 0) {
		return nil, fault.Param("radius of the graph", radius, "a finite number > 0")
	}
	limit := radius * radius
	before := make([][]edge, x.Len()) // for every point, its earlier neighbors
	var count atomic.Int64
	err := k.Squared().GramBlocks(ctx, eng, x, func(b kernel.Block) error {
		found := 0
		for r := range b.Matrix.Rows {
			i := b.Row + r
			row := b.Matrix.Row(r)
			for c, d := range row[:min(len(row), i-b.Col)] {
				if d > limit+b.Error {
					continue
				}
				if b.Error > 0 {
					if d = kernel.SquaredDistance(x, x, i, b.Col+c); d > limit {
						continue
					}
				}
				before[i] = append(before[i], edge{int32(b.Col + c), d})
				found++
			}
		}
		pairs := count.Add(int64(found))
		return eng.Check(fmt.Sprintf("graph of the pairs within %g, %d so far", radius, pairs), 40*pairs,
			"use a smaller radius, nearest neighbors, or fewer points")
	})
	if err != nil {
		return nil, err
	}
	return symmetric(before), nil
}

// symmetric returns the matrix whose lower triangle is before.
func symmetric(before [][]edge) *sparse.Matrix {
	n := len(before)
	m := &sparse.Matrix{Rows: n, Cols: n, Start: make([]int, n+1)}
	for i, list := range before {
		m.Start[i+1] += len(list)
		for _, e := range list {
			m.Start[e.to+1]++
		}
	}
	next := sparse.Begins(m.Start)
	m.Col, m.Val = make([]int32, m.Start[n]), make([]float64, m.Start[n])
	put := func(i, j int32, v float64) {
		m.Col[next[i]], m.Val[next[i]] = j, v
		next[i]++
	}
	for i, list := range before { // first the earlier neighbors of i, then, row by row, the later ones
		for _, e := range list {
			put(int32(i), e.to, e.squared)
		}
	}
	for i, list := range before {
		for _, e := range list {
			put(e.to, int32(i), e.squared)
		}
	}
	return m
}

// Lists are neighbors in the making: the nearest of the candidates so far of each of N points, the
// nearest first, ties by index. The result does not depend on the order of the candidates. A place
// that no candidate has taken has the index math.MaxInt32 and the squared distance +Inf.
type Lists struct {
	*Neighbors
	t     *asm.Table
	limit []float64 // largest value that matters to point i
	never []float64 // limits that no value meets
}

// NewLists returns empty lists of count neighbors for n points, for rows of at most width
// candidates. The error is a *fault.MemoryError.
func NewLists(eng *engine.Engine, n, count, width int) (*Lists, error) {
	if err := eng.Check(fmt.Sprintf("%d neighbors of %d points", count, n), engine.MatrixBytes(n, 2*count),
		"use fewer neighbors or raise the memory limit"); err != nil {
		return nil, err
	}
	none := []float64{math.Inf(1)}
	return &Lists{
		t: eng.Backend().Kernels(),
		Neighbors: &Neighbors{N: n, K: count, Index: slices.Repeat([]int32{math.MaxInt32}, n*count),
			Squared: slices.Repeat(none, n*count)},
		limit: slices.Repeat(none, n), never: slices.Repeat([]float64{math.Inf(-1)}, width),
	}, nil
}

// Row offers candidates to point i. row has their squared distances less the number less, rounded:
// none is more than slack from the distance that decides. candidate returns the index of the
// candidate in place at, and that distance; Row calls it only for candidates that may be near
// enough. Rows of different points may be offered at the same time.
func (l *Lists) Row(i int, row []float64, less, slack float64,
	candidate func(at int) (j int32, squared float64)) {
	l.scan(i, row, less, l.never, func(at int) {
		j, d := candidate(at)
		l.offer(i, int(j), d, slack)
	})
}

// scan calls found with the places in row whose values matter to point i, or are within limits.
func (l *Lists) scan(i int, row []float64, less float64, limits []float64, found func(at int)) {
	for at := 0; at < len(row); at++ {
		at += l.t.FirstBelow(row[at:], limits[at:], l.limit[i]-less)
		if at == len(row) {
			return
		}
		if !math.IsInf(row[at], 1) { // the point itself
			found(at)
		}
	}
}

// offer inserts point j, at squared distance d, into the list of point i if it is near enough.
func (l *Lists) offer(i, j int, d, slack float64) {
	index, squared := l.Of(i)
	at := len(index) - 1
	if d > squared[at] || d == squared[at] && int32(j) > index[at] {
		return
	}
	for ; at > 0 && (squared[at-1] > d || squared[at-1] == d && index[at-1] > int32(j)); at-- {
		index[at], squared[at] = index[at-1], squared[at-1]
	}
	index[at], squared[at] = int32(j), d
	l.limit[i] = squared[len(squared)-1] + slack
}
