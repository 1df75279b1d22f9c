package krca

import (
	"context"

	"github.com/mustlink/mustlink/algorithms/internal/input"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// maxGroup is the maximum number of distinct points whose coordinates are in memory while distances
// are computed.
const maxGroup = 4096

// distances returns kt(i,i) + kt(j,j) - 2 kt(i,j), clamped at 0, for each pair of rows
// of x.
func (m *metric) distances(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int) ([]float64, error) {
	out, weights := make([]float64, len(pairs)), m.weights()
	err := m.parts(ctx, eng, x, pairs, func(p int, rho float64, ci, cj []float64) {
		sum := rho / m.eps
		for r, w := range weights {
			d := w * (ci[r] - cj[r])
			sum += d * d
		}
		out[p] = max(0, sum)
	})
	return out, err
}

// parts calls f, from several goroutines, with the parts of the squared distance of each pair of
// rows of x: the residual rho, and the coordinates of both points. They do not depend on eps. It
// processes pairs in groups of at most maxGroup distinct points.
func (m *metric) parts(ctx context.Context, eng *engine.Engine, x points.Points, pairs [][2]int, f func(p int, rho float64, ci, cj []float64)) error {
	for lo := 0; lo < len(pairs); {
		hi, rows := input.Group(pairs, lo, maxGroup)
		shifted := func(p int, rho float64, ci, cj []float64) { f(lo+p, rho, ci, cj) }
		if err := m.groupParts(ctx, eng, x, rows, pairs[lo:hi], shifted); err != nil {
			return err
		}
		lo = hi
	}
	return nil
}

func (m *metric) groupParts(ctx context.Context, eng *engine.Engine, x points.Points, place map[int]int, pairs [][2]int,
	f func(p int, rho float64, ci, cj []float64)) error {
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
	return eng.Each(ctx, len(local), 1024, func(p int) {
		i, j := local[p][0], local[p][1]
		ci, cj, rho := c.Row(i), c.Row(j), 0.0
		switch {
		case i == j:
		case m.spectral():
			rho = spectralResidual(ci, cj, diagonal[i], diagonal[j], products[p])
		default:
			// The differences are taken before the squares, so that close points
			// do not cancel twice.
			rho = diagonal[i] + diagonal[j] - 2*products[p] - squaredDistance(ci, cj)
		}
		f(p, rho, ci, cj)
	})
}

// spectralResidual returns the part of the squared distance of two points by (1c) that does not
// come from their coordinates: three residuals, each clipped as in gram.
func spectralResidual(ci, cj []float64, di, dj, kij float64) float64 {
	residual := func(k, dx, dy float64, a, b []float64) float64 {
		rho := k - dot(a, b)
		if negligible(rho, dx, dy) {
			return 0
		}
		return rho
	}
	return residual(di, di, di, ci, ci) + residual(dj, dj, dj, cj, cj) - 2*residual(kij, di, dj, ci, cj)
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
