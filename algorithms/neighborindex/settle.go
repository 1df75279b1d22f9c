package neighborindex

import (
	"cmp"
	"context"
	"slices"

	"github.com/mustlink/mustlink/blas"
)

// settleRows is the number of queries that a worker settles at a time.
const settleRows = 64

// candidate is a row and its squared distance.
type candidate struct {
	row     int32
	squared float64
}

func (c candidate) compare(d candidate) int {
	return cmp.Or(cmp.Compare(c.squared, d.squared), cmp.Compare(c.row, d.row))
}

// settle writes the neighbors of all queries by exact distances.
func (v *visit) settle(ctx context.Context, queries blas.Matrix, index []int32, dist2 []float64) error {
	open := make([]bool, len(v.order))
	err := v.eng.For(ctx, len(v.order), settleRows, func(lo, hi int) error {
		var near []candidate
		for a := lo; a < hi; a++ {
			i := v.order[a]
			if near, open[a] = v.candidates(a, near[:0]); open[a] {
				continue
			}
			for r, c := range near[:v.k] {
				index[i*v.k+r], dist2[i*v.k+r] = c.row, c.squared
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var again []int
	for a, i := range v.order {
		if open[a] {
			again = append(again, i)
		}
	}
	return v.repeat(ctx, again, queries, index, dist2)
}

// candidates returns the rows that may be among the k nearest of query a, in the order of their
// exact distances, or more = true if the list may lack some. A row of the k nearest is not farther
// than the k rows with the smallest rounded distances, so its own rounded distance is at most twice
// the error above that of the last of them. The factor leaves room for the rounding of limits.
func (v *visit) candidates(a int, near []candidate) (out []candidate, more bool) {
	rows, rounded := v.lists.Of(a)
	last := rounded[v.k-1] + 4*v.slack[a]
	if !(rounded[len(rounded)-1] > last) {
		return near, true
	}
	for r, j := range rows {
		if rounded[r] <= last {
			near = append(near, candidate{j, v.exact(a, j)})
		}
	}
	slices.SortFunc(near, candidate.compare)
	return near, false
}

// repeat searches for some of the queries with exact distances from the start.
func (v *visit) repeat(ctx context.Context, some []int, queries blas.Matrix, index []int32, dist2 []float64) error {
	if len(some) == 0 {
		return nil
	}
	slices.Sort(some)
	part := v.eng.GetMatrix(len(some), queries.Cols)
	defer v.eng.PutMatrix(part)
	for r, i := range some {
		copy(part.Row(r), queries.Row(i))
	}
	again := &visit{Searcher: v.Searcher, k: v.k, probes: v.probes, at: v.at, eager: true}
	found, squared := make([]int32, len(some)*v.k), make([]float64, len(some)*v.k)
	if err := again.search(ctx, part, found, squared); err != nil {
		return err
	}
	for r, i := range some {
		copy(index[i*v.k:(i+1)*v.k], found[r*v.k:])
		copy(dist2[i*v.k:(i+1)*v.k], squared[r*v.k:])
	}
	return nil
}
