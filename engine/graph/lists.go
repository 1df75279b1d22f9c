package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/engine"
)

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
	if err := eng.Check(fmt.Sprintf("%d neighbors of %d points", count, n), engine.MatrixBytes(n, 2*count), "use fewer neighbors or raise the memory limit"); err != nil {
		return nil, err
	}
	l := &Lists{
		t:         eng.Backend().Kernels(),
		Neighbors: &Neighbors{N: n, K: count, Index: make([]int32, n*count), Squared: make([]float64, n*count)},
		limit:     make([]float64, n), never: slices.Repeat([]float64{math.Inf(-1)}, width),
	}
	for i := range l.Squared {
		l.Index[i], l.Squared[i] = math.MaxInt32, math.Inf(1)
	}
	for i := range l.limit {
		l.limit[i] = math.Inf(1)
	}
	return l, nil
}

// Row offers candidates to point i. row has their squared distances less the number less, rounded:
// none is more than slack from the distance that decides. candidate returns the index of the
// candidate in place at, and that distance; Row calls it only for candidates that may be near
// enough. Rows of different points may be offered at the same time.
func (l *Lists) Row(i int, row []float64, less, slack float64, candidate func(at int) (j int32, squared float64)) {
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
