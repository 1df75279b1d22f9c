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

// lists are the k nearest rows found so far for some rows, the nearest first, of equally near ones
// that of the lower number. There may be fewer.
type lists struct {
	k     int
	of    rowrandom.Rows
	found [][]neighbor
}

// neighbor is a row by its number, and its squared distance.
type neighbor struct {
	row     int64
	squared float64
}

// none stands for a neighbor that a small bucket does not have.
var none = neighbor{-1, math.MaxFloat64}

func newLists(k int, of rowrandom.Rows) *lists {
	return &lists{k: k, of: of, found: make([][]neighbor, len(of.Numbers))}
}

// search looks for neighbors among more rows, whose numbers ascend: of equally near rows the first
// ones are found. None of them was offered before.
func (l *lists) search(ctx context.Context, eng *engine.Engine, more blas.Matrix, numbers []int64) error {
	if len(l.found) == 0 || more.Rows == 0 {
		return nil
	}
	// One more than wanted, as a row itself may be among them.
	count := min(l.k+1, more.Rows)
	near, err := graph.NearestBetween(ctx, eng, kernel.Linear(), coordinates.Vectors(l.of.Matrix()), coordinates.Vectors(more), count)
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

// pad fills lists up to k rows with none.
func (l *lists) pad() {
	for i := range l.found {
		for len(l.found[i]) < l.k {
			l.found[i] = append(l.found[i], none)
		}
	}
}

// squared returns the squared distances in some lists, one list after another.
func squared(lists ...[]neighbor) []float64 {
	var out []float64
	for _, list := range lists {
		for _, n := range list {
			out = append(out, n.squared)
		}
	}
	return out
}
