package learner

import (
	"context"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

const (
	flatSample = 24     // rows whose distances are looked at first
	vanishing  = 1e-290 // squared distances up to this are 0: their squares and products are
	equality   = 1e-9   // relative difference of squared distances that are equal but for rounding
)

// flat returns a notice if all distances of the training points x are 0 or equal, "" otherwise. It
// looks at all points only if some of them, spread over the rows, do not differ.
func flat(ctx context.Context, eng *engine.Engine, m algorithms.Model, x points.Points) (string, error) {
	n := x.Len()
	if n < 4 {
		return "", nil
	}
	notice := ""
	for _, count := range []int{min(n, flatSample), n} {
		// A star and a chain: all points coincide if these distances are 0.
		var pairs [][2]int
		for k := 1; k < count; k++ {
			row, before := k*n/count, (k-1)*n/count
			pairs = append(pairs, [2]int{0, row})
			if k > 1 {
				pairs = append(pairs, [2]int{before, row})
			}
		}
		d, err := m.Distances(ctx, eng, x, pairs)
		if err != nil {
			return "", err
		}
		if notice = verdict(d); notice == "" || count == n {
			break
		}
	}
	return notice, nil
}

// verdict returns what is notable about squared distances.
func verdict(d []float64) string {
	least, most := d[0], d[0]
	for _, v := range d {
		least, most = min(least, v), max(most, v)
	}
	switch {
	case most <= vanishing:
		return "all learned distances of the training points are 0: want other parameters, or links that " +
			"the points agree with"
	case most-least <= equality*most:
		return "all learned distances of the training points are equal: want other parameters, such as a " +
			"larger bandwidth, or other columns"
	}
	return ""
}
