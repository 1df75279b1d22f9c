package cluster

import "slices"

const (
	kernelBlock  = 64   // rows of the Gram matrix that one task adds up
	updateColumn = 1024 // columns of the sums that one task brings up to date
)

// sum makes sums those of the given partition, whose members and mass are set. A change of
// few labels is cheaper to add to the standing sums than to add up all of them again.
func (r *kernelStart) sum(labels []int) error {
	moved := -1
	if r.summed != nil {
		moved = 0
		for i, c := range labels {
			if c != r.summed[i] {
				moved++
			}
		}
	}
	r.fresh = moved < 0 || 3*moved >= len(labels)
	var err error
	if r.fresh {
		err = r.addUp()
	} else {
		err = r.bringUpToDate(labels)
	}
	r.summed = append(r.summed[:0], labels...)
	return err
}

// addUp computes sums from the members. n^2 additions.
func (r *kernelStart) addUp() error {
	return loop(r.ctx, r.eng, r.parallel, r.k.Rows, kernelBlock, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			row := r.k.Row(i)
			for c, members := range r.members {
				r.sums.Set(c, i, sumOver(row, r.weight, members))
			}
		}
		return nil
	})
}

// bringUpToDate moves the rows of objects with a new label from one sum to another. 2n
// additions for each. Rounding errors add up until the next addUp, at most u max|k| times the
// mass moved.
func (r *kernelStart) bringUpToDate(labels []int) error {
	var moved []int
	for i, c := range labels {
		if c != r.summed[i] {
			moved = append(moved, i)
		}
	}
	return loop(r.ctx, r.eng, r.parallel, r.k.Rows, updateColumn, func(lo, hi int) error {
		for _, i := range moved {
			row := r.k.Row(i)[lo:hi] // a column, k being symmetric
			addScaled(r.sums.Row(r.summed[i])[lo:hi], row, -r.weight.of(i))
			addScaled(r.sums.Row(labels[i])[lo:hi], row, r.weight.of(i))
		}
		return nil
	})
}

// addScaled adds w x to y.
func addScaled(y, x []float64, w float64) {
	x = x[:len(y)]
	for j := range y {
		y[j] += float64(w * x[j])
	}
}

// sumOver adds the values of row at the given places, times their weights unless weight is
// nil, in a fixed order.
func sumOver(row, weight []float64, positions []int) float64 {
	var s [4]float64
	if weight == nil {
		for quad := range slices.Chunk(positions, 4) {
			for j, place := range quad {
				s[j] += row[place]
			}
		}
	} else {
		for quad := range slices.Chunk(positions, 4) {
			for j, place := range quad {
				s[j] += float64(weight[place] * row[place])
			}
		}
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}
