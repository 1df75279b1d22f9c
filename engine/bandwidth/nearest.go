package bandwidth

import (
	"context"
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine/graph"
)

// nearest returns the mean over points of the mean distance to the k nearest others, or to all
// others if there are fewer. With many points it averages over a sample.
func (m *measurement) nearest(ctx context.Context, k int) (float64, error) {
	n := m.x.Len()
	if k = min(k, n-1); k < 1 {
		return 0, ctx.Err()
	}
	if n <= m.limit.pairs {
		found, err := graph.Nearest(ctx, m.eng, m.k, m.x, k)
		if err != nil {
			return 0, err
		}
		return meanDistance(found.Squared), nil
	}
	rows := spread(n, m.limit.queries)
	found, err := graph.NearestBetween(ctx, m.eng, m.k, m.x.Select(rows), m.x, k+1)
	if err != nil {
		return 0, err
	}
	var squared []float64
	for q, i := range rows {
		index, d2 := found.Of(q)
		self := slices.Index(index, int32(i))
		if self < 0 { // the point has so many copies that it is not listed itself
			self = k
		}
		squared = append(append(squared, d2[:self]...), d2[self+1:]...)
	}
	return meanDistance(squared), nil
}

func meanDistance(squared []float64) float64 {
	mean := 0.0
	for _, v := range squared {
		mean += math.Sqrt(v) / float64(len(squared))
	}
	return mean
}
