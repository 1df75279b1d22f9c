package calibration

import (
	"slices"

	"github.com/mustlink/mustlink/solvers/optimize"
)

// step is what the links say about pairs at a distance, in the mix of the links. All three fall
// with the distance.
type step struct{ value, low, high float64 }

// equal is the difference of two values of the regression that are equal but for rounding.
const equal = 1e-9

// stepsOf returns the step of each distance. The distances with one value of the isotonic
// regression are a block. The value of a block is its share of must-links after one more link of
// each kind: a block of five must-links has not shown that no cannot-link is as near. Its bounds
// are those of the counts of both kinds. A lower bound of a block is one of all nearer blocks, an
// upper bound one of all farther blocks, as the probability falls.
func (c *Calibration) stepsOf(regression []float64) ([]step, error) {
	var blocks []step
	var values, weights []float64
	length := []int{}
	must, cannot := newRate(c.musts), newRate(c.cannots)
	for from := 0; from < len(regression); {
		var m, n int64
		to := from
		for ; to < len(regression) && regression[from]-regression[to] <= equal; to++ {
			m, n = m+c.must[to], n+c.cannot[to]
		}
		mLow, mHigh := must.bounds(m)
		nLow, nHigh := cannot.bounds(n)
		blocks = append(blocks, step{low: c.ofLinks(mLow, nHigh), high: c.ofLinks(mHigh, nLow)})
		values = append(values, c.ofLinks(must.laplace(m), cannot.laplace(n)))
		weights, length = append(weights, float64(m+n)), append(length, to-from)
		from = to
	}
	values, err := optimize.Falling(values, weights)
	if err != nil {
		return nil, err
	}
	for b := range blocks[1:] {
		blocks[b+1].high = min(blocks[b+1].high, blocks[b].high)
	}
	for b := len(blocks) - 2; b >= 0; b-- {
		blocks[b].low = max(blocks[b].low, blocks[b+1].low)
	}
	var steps []step
	for b, s := range blocks {
		s.value = min(s.high, max(s.low, values[b]))
		steps = append(steps, slices.Repeat([]step{s}, length[b])...)
	}
	return steps, nil
}

// ofLinks returns the share of must-links among links of which these shares of both kinds are left.
func (c *Calibration) ofLinks(must, cannot float64) float64 {
	must *= float64(c.musts)
	return must / (must + cannot*float64(c.cannots))
}

// Probability returns the probability that two rows at this distance belong together. It is
// above 0 and below 1, and does not rise with the distance: the isotonic regression at the
// distances of the links, as far as their counts support it, linear between them and constant
// beyond. See [Calibration.Interval]. Cost: O(log n).
func (c *Calibration) Probability(distance float64) float64 {
	return c.between(distance, func(s step) float64 { return s.value })
}

// Interval returns the probability at a distance with an interval of 95 % for the mean probability
// of the pairs at the distances of its step. Cost: O(log n).
func (c *Calibration) Interval(distance float64) Estimate {
	e := Estimate{
		c.Probability(distance),
		c.between(distance, func(s step) float64 { return s.low }),
		c.between(distance, func(s step) float64 { return s.high }),
	}
	if c.beyond(distance) {
		e.Low = 0
	}
	return e
}

// beyond reports whether nothing is known of pairs at this distance.
func (c *Calibration) beyond(distance float64) bool {
	return c.near && distance > c.distance[len(c.distance)-1]
}

// between returns a part of the steps at a distance, for the share of matching pairs.
func (c *Calibration) between(distance float64, part func(step) float64) float64 {
	at := func(k int) float64 { return c.reweighed(part(c.steps[k])) }
	k, found := slices.BinarySearch(c.distance, distance)
	last := len(c.distance) - 1
	switch {
	case found || k == 0:
		return at(k)
	case k > last:
		return at(last)
	}
	before, after := at(k-1), at(k)
	t := (distance - c.distance[k-1]) / (c.distance[k] - c.distance[k-1])
	return min(before, max(after, before+(after-before)*t))
}
