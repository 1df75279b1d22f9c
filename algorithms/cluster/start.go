package cluster

import (
	"context"
	"math"
	"math/rand/v2"
	"sync/atomic"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/points"
)

// start is one run of Lloyd's iteration from one seeded choice of centers.
type start struct {
	ctx      context.Context
	eng      *engine.Engine
	parallel bool // share the rows among the workers (the bits are the same either way)

	s        *sample
	p        Params
	conflict *conflictGraph // cannot-links between the last rows of s; nil when none
	rng      *rand.Rand

	centers blas.Matrix // K x d
	norm    []float64   // squared norms of the centers
	labels  []int       // length m
	dist    []float64   // squared distance of each row to its center
	lower   []float64   // a lower bound of its distance to every other center
	drift   []float64   // drift[c]: how far a center other than c has moved, at most

	iterations int
	converged  bool
	trace      []float64 // objective after each assignment
}

func newStart(ctx context.Context, eng *engine.Engine, s *sample, p Params, g *conflictGraph, restart int, parallel bool) *start {
	m := s.rows()
	return &start{
		ctx: ctx, eng: eng, parallel: parallel, s: s, p: p, conflict: g,
		rng:     rand.New(rand.NewPCG(p.Seed, uint64(restart))),
		centers: blas.NewMatrix(p.K, s.x.Cols),
		norm:    make([]float64, p.K),
		labels:  make([]int, m),
		dist:    make([]float64, m),
		lower:   make([]float64, m),
		drift:   make([]float64, p.K),
	}
}

// run seeds the centers and iterates: means of the clusters, then nearest centers, until
// no label changes. Both steps and the refilling of empty clusters lower the objective,
// which bounds the iteration; a decrease lost in round-off ends it too.
func (r *start) run() error {
	if err := r.seed(); err != nil {
		return err
	}
	if _, err := r.assign(true); err != nil {
		return err
	}
	r.trace = append(r.trace, r.objective())
	for r.iterations < r.p.MaxIter {
		r.iterations++
		r.refill()
		if err := r.update(); err != nil {
			return err
		}
		changed, err := r.assign(false)
		if err != nil {
			return err
		}
		before, after := r.last(), r.objective()
		r.trace = append(r.trace, after)
		if changed == 0 || !(after < before-r.p.Tol*before) {
			r.converged = true
			return nil
		}
	}
	return nil
}

func (r *start) last() float64 { return r.trace[len(r.trace)-1] }

// objective returns the weighted sum of squared distances to the centers, summed in row
// order.
func (r *start) objective() float64 {
	sum := 0.0
	for i, d := range r.dist {
		sum += r.s.weight.of(i) * d
	}
	return sum
}

// assign moves every row to its nearest center under the constraints and returns how many
// labels changed.
func (r *start) assign(first bool) (int, error) {
	setNorms(r.norm, r.centers)
	free := r.s.rows()
	if r.conflict != nil {
		free -= r.conflict.len()
	}
	var changed atomic.Int64
	err := loop(r.ctx, r.eng, r.parallel, free, assignBlock, func(lo, hi int) error {
		changed.Add(int64(r.assignRows(lo, hi, first)))
		return nil
	})
	if err != nil || r.conflict == nil {
		return int(changed.Load()), err
	}
	n, err := r.assignConstrained(free, first)
	return int(changed.Load()) + n, err
}

// seed chooses K rows as the first centers.
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
	cost := make([]float64, r.s.rows()) // weight x squared distance to the nearest center
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
