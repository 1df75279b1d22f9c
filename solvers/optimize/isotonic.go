package optimize

import (
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine/fault"
)

// Rising fits monotone sequences.
//
// Rising returns the non-decreasing x that minimizes sum w_i (x_i - y_i)^2, by pooling adjacent
// violators (Ayer, Brunk, Ewing, Reid & Silverman 1955): a sequence of weighted means of neighbors.
// Nil weights are 1.
//
// The same x minimizes sum w_i (y_i / x_i + log x_i) for positive y, and every other Bregman
// divergence whose minimizer is a mean.
//
// Errors: a *fault.ShapeError unless there are as many weights as values; a *fault.DataError unless
// values are finite and weights positive and finite. Cost: O(n).
func Rising(y, w []float64) ([]float64, error) { return fit(y, w, 1) }

// Falling is [Rising] for a non-increasing x.
// Errors and cost are the same.
func Falling(y, w []float64) ([]float64, error) { return fit(y, w, -1) }

// block is a part of the sequence with one fitted value, the mean.
type block struct {
	value, weight float64
	length        int
}

// pooled merges two neighboring blocks. Its value is between theirs, even if their difference or
// the sum of weights overflows.
func pooled(a, b block) block {
	weight := a.weight + b.weight
	share := b.weight / weight
	if math.IsInf(weight, 1) {
		weight = math.MaxFloat64
		share = b.weight / 2 / (a.weight/2 + b.weight/2)
	}
	value := a.value + (b.value-a.value)*share
	if value-value != 0 {
		value = a.value*(1-share) + b.value*share
	}
	return block{min(max(value, min(a.value, b.value)), max(a.value, b.value)), weight, a.length + b.length}
}

func fit(y, w []float64, sign float64) ([]float64, error) {
	if w != nil && len(w) != len(y) {
		return nil, fault.Shape("weights", len(w), "%d, as there are values", len(y))
	}
	blocks := make([]block, 0, len(y))
	for i, v := range y {
		b := block{v, 1, 1}
		if w != nil {
			b.weight = w[i]
		}
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return nil, fault.Row(i, "value %v: want a finite number", v)
		case !(b.weight > 0) || math.IsInf(b.weight, 0):
			return nil, fault.Row(i, "weight %v: want a finite number > 0", b.weight)
		}
		for len(blocks) > 0 && sign*blocks[len(blocks)-1].value > sign*b.value {
			last := blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
			b = pooled(last, b)
		}
		blocks = append(blocks, b)
	}
	x := make([]float64, 0, len(y))
	for _, b := range blocks {
		x = append(x, slices.Repeat([]float64{b.value}, b.length)...)
	}
	return x, nil
}
