package graph

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
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
func Nearest(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points, count int) (*Neighbors, error) {
	n := x.Len()
	if count < 1 || count >= n {
		return nil, &fault.ParamError{Param: "neighbors", Value: count, Want: fmt.Sprintf("a number from 1 to %d, one less than the number of points", n-1)}
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
func NearestBetween(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x, y points.Points, count int) (*Neighbors, error) {
	if count < 1 || count > y.Len() {
		return nil, &fault.ParamError{Param: "neighbors", Value: count, Want: fmt.Sprintf("a number from 1 to %d, the number of points to choose from", y.Len())}
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
func NearestRows(ctx context.Context, eng *engine.Engine, x, y *points.Dense, count int) (found *Neighbors, err error) {
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
