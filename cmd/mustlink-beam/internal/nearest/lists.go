package nearest

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/coordinates"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/rowrandom"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
)

// lists are the nearest rows found so far for some rows, at most k for each, by ascending distance
// and then by ascending number.
type lists struct {
	k     int
	of    rowrandom.Rows
	found [][]neighbor
}

// neighbor is the number of a row and its squared distance.
type neighbor struct {
	row     int64
	squared float64
}

// none stands in a list for a neighbor that a bucket with too few rows does not have.
var none = neighbor{-1, math.MaxFloat64}

func newLists(k int, of rowrandom.Rows) *lists {
	return &lists{k: k, of: of, found: make([][]neighbor, len(of.Numbers))}
}

// search adds neighbors among more rows, whose numbers ascend: of several at the same distance the
// first are found. No row may be searched twice.
func (l *lists) search(ctx context.Context, eng *engine.Engine, more blas.Matrix, numbers []int64) error {
	if len(l.found) == 0 || more.Rows == 0 {
		return nil
	}
	// One more than k, because a row may find itself.
	count := min(l.k+1, more.Rows)
	near, err := graph.NearestBetween(ctx, eng, kernel.Linear(), coordinates.Vectors(l.of.Matrix()),
		coordinates.Vectors(more), count)
	if err != nil {
		return err
	}
	for i, own := range l.of.Numbers {
		list := l.found[i]
		index, squared := near.Of(i)
		for a, j := range index {
			if numbers[j] != own {
				list = append(list, neighbor{numbers[j], squared[a]})
			}
		}
		slices.SortFunc(list, func(a, b neighbor) int {
			return cmp.Or(cmp.Compare(a.squared, b.squared), cmp.Compare(a.row, b.row))
		})
		l.found[i] = list[:min(l.k, len(list))]
	}
	return nil
}

// pad fills lists up to k entries with none.
func (l *lists) pad() {
	for i := range l.found {
		for len(l.found[i]) < l.k {
			l.found[i] = append(l.found[i], none)
		}
	}
}

// squared returns the squared distances of some lists, list by list.
func squared(lists ...[]neighbor) []float64 {
	var out []float64
	for _, list := range lists {
		for _, n := range list {
			out = append(out, n.squared)
		}
	}
	return out
}
