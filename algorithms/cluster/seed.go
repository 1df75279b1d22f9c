package cluster

import (
	"math"

	"github.com/mustlink/mustlink/engine/points"
)

// seed chooses K rows as the first centres.
func (r *start) seed() error {
	if r.p.Start.Rows > 0 {
		move(r.centers, r.p.Start, r.s.shift)
		return nil
	}
	if r.p.Init == InitRandom {
		for c, i := range r.rng.Perm(r.s.rows())[:r.p.K] {
			copy(r.centers.Row(c), r.s.x.Row(i))
		}
		return nil
	}
	cost := make([]float64, r.s.rows()) // weight x squared distance to the nearest centre
	for i := range cost {
		cost[i] = r.s.weight.of(i)
	}
	nearest := make([]float64, r.s.rows())
	for i := range nearest {
		nearest[i] = math.Inf(1)
	}
	for c := range r.p.K {
		x := r.s.x.Row(draw(cost, r.rng.Float64()))
		copy(r.centers.Row(c), x)
		err := loop(r.ctx, r.eng, r.parallel, len(cost), 4*assignBlock, func(lo, hi int) error {
			for i := lo; i < hi; i++ {
				nearest[i] = min(nearest[i], points.SquaredDistance(r.s.x.Row(i), x))
				cost[i] = r.s.weight.of(i) * nearest[i]
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// draw returns the index at fraction u of the cumulated costs, u in [0, 1): index i with
// probability cost[i] / sum. When all are 0 it returns 0; an index of cost 0 is never
// returned otherwise.
func draw(cost []float64, u float64) int {
	total := 0.0
	for _, v := range cost {
		total += v
	}
	target, sum, last := u*total, 0.0, 0
	for i, v := range cost {
		if v > 0 {
			sum += v
			last = i
			if sum > target {
				break
			}
		}
	}
	return last
}
