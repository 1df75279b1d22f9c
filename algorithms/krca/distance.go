package krca

import (
	"context"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// maxGroup bounds the number of different points whose coordinates are held together while
// distances are computed.
const maxGroup = 4096

// distances returns kt(i,i) + kt(j,j) - 2 kt(i,j), clamped at 0, for each pair of rows
// of x. Pairs are taken in groups of at most maxGroup different points.
func (m *metric) distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
	out := make([]float64, len(pairs))
	for lo := 0; lo < len(pairs); {
		hi, rows := group(pairs, lo)
		if err := m.groupDistances(ctx, eng, x, rows, pairs[lo:hi], out[lo:hi]); err != nil {
			return nil, err
		}
		lo = hi
	}
	return out, nil
}

// group returns the end of the longest run of pairs from lo on with at most maxGroup
// different points (always at least one pair), and the place of each of those points.
func group(pairs [][2]int, lo int) (hi int, rows map[int]int) {
	rows = map[int]int{}
	for hi = lo; hi < len(pairs); hi++ {
		if hi > lo && len(rows)+2 > maxGroup {
			break
		}
		for _, i := range pairs[hi] {
			if _, ok := rows[i]; !ok {
				rows[i] = len(rows)
			}
		}
	}
	return hi, rows
}

func (m *metric) groupDistances(ctx context.Context, eng *engine.Engine, x points.Points, place map[int]int, pairs [][2]int, out []float64) error {
	rows := make([]int, len(place))
	for row, at := range place {
		rows[at] = row
	}
	chosen := x.Select(rows)
	local := make([][2]int, len(pairs))
	for p, pair := range pairs {
		local[p] = [2]int{place[pair[0]], place[pair[1]]}
	}
	diagonal, err := m.kernel.Diagonal(ctx, eng, chosen)
	if err != nil {
		return err
	}
	products, err := m.kernel.Pairs(ctx, eng, chosen, local)
	if err != nil {
		return err
	}
	c, err := m.coordinates(ctx, eng, chosen)
	if err != nil {
		return err
	}
	weights := m.weights()
	return eng.For(ctx, len(local), 1024, func(lo, hi int) error {
		for p := lo; p < hi; p++ {
			i, j := local[p][0], local[p][1]
			if m.spectral() {
				out[p] = m.spectralDistance(c, weights, diagonal, products[p], i, j)
			} else {
				// The differences are taken before the squares, so that close points
				// do not cancel twice.
				rho := diagonal[i] + diagonal[j] - 2*products[p] - squaredDistance(c.Row(i), c.Row(j))
				out[p] = rho / m.eps
			}
			if i == j || out[p] < 0 {
				out[p] = 0
			}
		}
		return nil
	})
}

// spectralDistance is the squared distance of points i and j by (1c): three residuals,
// each clipped as in gram, and the weighted distance of the coordinates.
func (m *metric) spectralDistance(c blas.Matrix, weights, diagonal []float64, kij float64, i, j int) float64 {
	ci, cj, di, dj := c.Row(i), c.Row(j), diagonal[i], diagonal[j]
	residual := func(k, dx, dy float64, a, b []float64) float64 {
		rho := k - dot(a, b)
		if negligible(rho, dx, dy) {
			return 0
		}
		return rho
	}
	rho := residual(di, di, di, ci, ci) + residual(dj, dj, dj, cj, cj) - 2*residual(kij, di, dj, ci, cj)
	sum := rho / m.eps
	for r, w := range weights {
		d := w * (ci[r] - cj[r])
		sum += d * d
	}
	return sum
}

func dot(x, y []float64) float64 {
	var sum float64
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

func squaredDistance(x, y []float64) float64 {
	var sum float64
	for i, v := range x {
		d := v - y[i]
		sum += d * d
	}
	return sum
}
