package bandwidth

import (
	"context"
	"math"

	"github.com/mustlink/mustlink/blas"
)

// nearest returns the mean over points of the mean distance to the k nearest others, or to
// all others if there are fewer.
func (m *measurement) nearest(ctx context.Context, k int) (float64, error) {
	n := m.x.Len()
	if n <= m.limit.pairs {
		d2, err := m.k.SquaredDistances(ctx, m.eng, m.x)
		if err != nil {
			return 0, err
		}
		return m.meanOfNearest(ctx, d2, func(i int) int { return i }, k)
	}
	rows := spread(n, m.limit.queries)
	// A strip of queries at a time: 128 rows of distances to all points.
	const strip = 128
	total := 0.0
	for lo := 0; lo < len(rows); lo += strip {
		hi := min(lo+strip, len(rows))
		d2, err := m.k.SquaredDistancesBetween(ctx, m.eng, m.x.Select(rows[lo:hi]), m.x)
		if err != nil {
			return 0, err
		}
		mean, err := m.meanOfNearest(ctx, d2, func(i int) int { return rows[lo+i] }, k)
		if err != nil {
			return 0, err
		}
		total += mean * float64(hi-lo) / float64(len(rows))
	}
	return total, nil
}

// meanOfNearest averages the k smallest distances of every row, column self(i) left out.
func (m *measurement) meanOfNearest(ctx context.Context, d2 blas.Matrix, self func(i int) int, k int) (float64, error) {
	k = min(k, d2.Cols-1)
	means := make([]float64, d2.Rows)
	err := m.eng.For(ctx, d2.Rows, 16, func(lo, hi int) error {
		best := make([]float64, 0, k+1)
		for i := lo; i < hi; i++ {
			best = smallest(best[:0], d2.Row(i), self(i), k)
			for _, v := range best {
				means[i] += math.Sqrt(v) / float64(k)
			}
		}
		return nil
	})
	total := 0.0
	for _, v := range means {
		total += v / float64(d2.Rows)
	}
	return total, err
}

// smallest appends the k smallest values of row, place skip left out, to best (empty, with
// room for k+1), ascending. By insertion: k is small and few values of a row get that far.
func smallest(best, row []float64, skip, k int) []float64 {
	for j, v := range row {
		if j == skip || len(best) == k && v >= best[k-1] {
			continue
		}
		at := len(best)
		best = append(best, v)
		for ; at > 0 && best[at-1] > v; at-- {
			best[at] = best[at-1]
		}
		best[at] = v
		if len(best) > k {
			best = best[:k]
		}
	}
	return best
}
