package nearest

import (
	"cmp"
	"context"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/places"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/graph"
	"github.com/mustlink/mustlink/engine/kernel"
)

// lists are the k nearest rows found so far for some rows, the nearest first, of equally near ones that of the lower number. There may be
// fewer.
type lists struct {
	k       int
	own     []int64 // numbers of the rows themselves
	numbers [][]int64
	squared [][]float64
}

func newLists(k int, own []int64) *lists {
	return &lists{k: k, own: own, numbers: make([][]int64, len(own)), squared: make([][]float64, len(own))}
}

// search looks among more rows, whose numbers are given, for neighbours of x. None of them was offered before.
func (l *lists) search(ctx context.Context, eng *engine.Engine, x, more blas.Matrix, numbers []int64) error {
	if x.Rows == 0 || more.Rows == 0 {
		return nil
	}
	if !slices.IsSorted(numbers) { // of equally near rows the first ones are found
		more, numbers = ascending(more, numbers)
	}
	// One more than wanted, as a row itself may be among them.
	count := min(l.k+1, more.Rows)
	found, err := graph.NearestBetween(ctx, eng, kernel.Linear(), places.Vectors(x), places.Vectors(more), count)
	if err != nil {
		return err
	}
	for i := range l.own {
		index, squared := found.Of(i)
		these := make([]int64, len(index))
		for a, j := range index {
			these[a] = numbers[j]
		}
		l.numbers[i], l.squared[i] = merged(l.k, l.own[i], l.numbers[i], l.squared[i], these, squared)
	}
	return nil
}

// ascending returns rows in the order of their numbers, copies.
func ascending(x blas.Matrix, numbers []int64) (blas.Matrix, []int64) {
	order := make([]int, len(numbers))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(numbers[a], numbers[b]) })
	out, sorted := blas.NewMatrix(x.Rows, x.Cols), make([]int64, len(numbers))
	for to, from := range order {
		copy(out.Row(to), x.Row(from))
		sorted[to] = numbers[from]
	}
	return out, sorted
}

// merged returns the k nearest of two lists, without the row itself.
func merged(k int, own int64, a []int64, da []float64, b []int64, db []float64) ([]int64, []float64) {
	numbers, squared := make([]int64, 0, min(k, len(a)+len(b))), make([]float64, 0, min(k, len(a)+len(b)))
	for len(numbers) < k && len(a)+len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && (da[0] < db[0] || da[0] == db[0] && a[0] <= b[0]) {
			if a[0] != own {
				numbers, squared = append(numbers, a[0]), append(squared, da[0])
			}
			a, da = a[1:], da[1:]
			continue
		}
		if b[0] != own {
			numbers, squared = append(numbers, b[0]), append(squared, db[0])
		}
		b, db = b[1:], db[1:]
	}
	return numbers, squared
}
