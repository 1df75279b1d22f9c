// Package cluster (internal: may change) partitions points into clusters: plain k-means, k-means
// under must-links and cannot-links, kernel k-means on a Gram matrix, with or without must-links,
// and [Agglomerative], which merges rows along a graph of distances under both.
//
// All but the last run Lloyd's iteration from several seeded starts and return the best result:
//
//   - [KMeans] minimizes the sum of squared distances of points to the centers of their
//     clusters, from k-means++ starts (Arthur & Vassilvitskii 2007).
//   - [Constrained] does so subject to links. Every must-link component moves as one block to
//     the center that minimizes its summed squared distance; cannot-links are kept as in
//     COP-KMeans (Wagstaff et al. 2001), but where its greedy pass fails a search takes over,
//     and the assignment is improved by exchanging chains of blocks between two clusters.
//   - [Kernel] is kernel k-means (Dhillon, Guan & Kulis 2004): k-means in the feature space, by
//     inner products only.
//
// Data larger than memory are a sequence of blocks of rows. [KMeansStream] is k-means in several
// passes through them, bit-identical to [KMeans] from the same centers. [MiniBatch] (Sculley 2010)
// reads them once. The [Assigner] of their result assigns rows to centers, block by block.
//
// # Exactness and determinism
//
// Distances are first computed by matrix multiplication, |x|^2 + |c|^2 - 2x'c, with a bound of the
// rounding error. If the bound leaves a comparison undecided, and for every reported distance, the
// sum of squared differences decides. So the result does not depend on the rounding of the backend,
// on the number of workers or on the division of rows into blocks: equal parameters give
// bit-identical results. Equal rows have equal distances and go to the same cluster; a tie goes to
// the cluster with the lower number.
package cluster

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// KMeans partitions the rows of x (n x d) into p.K clusters by Lloyd's exact iteration,
// from p.Restarts starts, and returns the partition of smallest inertia.
//
// A cluster that loses all its points takes the point that contributes most to the inertia.
// With Tol 0 a converged result is a fixed point: every point is in the cluster of the
// nearest center (ties: the lower number) and every center is the mean of its cluster, to
// rounding. x is not changed.
//
// Errors: *fault.ParamError (K, Restarts, MaxIter, Tol, Init), *fault.ShapeError (Start, Weights),
// *fault.DataError (a value that is not finite, squares that overflow, a weight that is not
// positive), *fault.MemoryError, and ctx.Err(), wrapped. Cost: an iteration takes at most 2ndK
// flops and, once most points are far from changing, about 5nd; k-means++ takes 3ndK. Memory: a
// copy of x and about 4n values a worker.
func KMeans(ctx context.Context, eng *engine.Engine, x blas.Matrix, p Params) (*Result, error) {
	weights := p.Weights
	if err := checkWeights(weights, x.Rows); err != nil {
		return nil, err
	}
	p.Weights = nil
	p, err := p.resolveStart(x.Rows, x.Cols)
	if err != nil {
		return nil, err
	}
	p.Weights = weights
	best, restart, err := kmeans(ctx, eng, x, p)
	if err != nil {
		return nil, err
	}
	return best.result(restart), nil
}

// kmeans is KMeans with parameters that are resolved. It returns the best start and its number.
func kmeans(ctx context.Context, eng *engine.Engine, x blas.Matrix, p Params) (*start, int, error) {
	if err := checkMemory(eng, "k-means", x.Rows, x.Cols, p); err != nil {
		return nil, 0, err
	}
	s, err := newSample(eng, x)
	if err == nil && p.Weights != nil {
		s.weight = p.Weights
		err = s.setNorms() // which checks the weighted sum
	}
	if err != nil {
		return nil, 0, err
	}
	return bestStart(ctx, eng, s, p, nil, "k-means")
}

// checkMemory prices clustering n rows of d values.
func checkMemory(eng *engine.Engine, what string, n, d int, p Params) error {
	return eng.Check(fmt.Sprintf("%s of %d x %d values", what, n, d), clusterBytes(eng, n, d, p),
		"cluster a sample of the rows, or stream them")
}

// clusterBytes estimates what clustering n rows of d values takes: a copy of the rows and the
// vectors of the starts under way.
func clusterBytes(eng *engine.Engine, n, d int, p Params) int64 {
	starts := int64(min(eng.Workers(), p.Restarts))
	return engine.MatrixBytes(n, d+2) + starts*engine.MatrixBytes(n, 5) +
		int64(eng.Workers())*engine.MatrixBytes(p.K, d+assignBlock)
}

func (r *start) result(restart int) *Result {
	return &Result{
		Labels: r.labels, Centers: movedBack(r.centers, r.s.shift), Inertia: r.last(),
		Iterations: r.iterations, Converged: r.converged, Restart: restart,
	}
}

// bestStart runs all starts of k-means; see best.
func bestStart(ctx context.Context, eng *engine.Engine, s *sample, p Params, g *conflictGraph,
	stage string) (*start, int, error) {
	return best(ctx, eng, p, stage, func(restart int, parallel bool) *start {
		return newStart(ctx, eng, s, p, g, restart, parallel)
	})
}

// runner is one start.
type runner interface {
	run() error
	last() float64 // its objective
}

// best runs all starts and returns the one of smallest objective, ties to the earlier
// one, and its number.
//
// With at least as many starts as workers each worker runs whole starts; otherwise the
// starts follow one another and share their rows among the workers. Which it is does not
// show in the result.
func best[R runner](ctx context.Context, eng *engine.Engine, p Params, stage string,
	begin func(restart int, parallel bool) R) (R, int, error) {
	whole := p.Restarts >= eng.Workers()
	t := tournament[R]{params: p, stage: stage, began: time.Now()}
	err := loop(ctx, eng, whole, p.Restarts, 1, func(restart, _ int) error {
		r := begin(restart, !whole)
		if err := r.run(); err != nil {
			return err
		}
		t.enter(r, restart)
		return nil
	})
	if err != nil {
		err = fmt.Errorf("cluster: %s: %w", stage, err)
	}
	return t.start, t.restart, err
}

// tournament keeps the best start so far and reports progress.
type tournament[R runner] struct {
	params Params
	stage  string
	began  time.Time

	mu      sync.Mutex
	done    int
	start   R
	restart int
}

func (t *tournament[R]) enter(r R, restart int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done++
	if t.done == 1 || r.last() < t.start.last() || (r.last() == t.start.last() && restart < t.restart) {
		t.start, t.restart = r, restart
	}
	t.params.Progress.Report(algorithms.Progress{
		Stage: t.stage, Done: t.done, Total: t.params.Restarts,
		Objective: t.start.last(), Elapsed: time.Since(t.began),
	})
}

// Starts of k-means.
const (
	// InitPlusPlus draws each center with probability proportional to the squared distance
	// to the nearest center so far (Arthur & Vassilvitskii 2007, one draw a center).
	InitPlusPlus = "kmeans++"
	// InitRandom draws K different rows uniformly.
	InitRandom = "random"
)

// Defaults of zero values in [Params].
const (
	DefaultRestarts = 10
	DefaultMaxIter  = 300
)

// MaxRestarts is the largest number of starts: more would run for years on points of any use.
const MaxRestarts = 1_000_000

// Params are the parameters of all methods. Only K must be set; zero values of the others mean
// their defaults.
type Params struct {
	// K is the number of clusters, 1 <= K <= number of points.
	K int
	// Restarts is the number of starts. The result is that of the best start (ties: the earlier
	// one). 0 means DefaultRestarts, at most MaxRestarts.
	Restarts int
	// MaxIter is the maximum number of iterations of a start; 0 means DefaultMaxIter.
	MaxIter int
	// Tol ends a start when the inertia decreases by at most Tol times itself in one
	// iteration, 0 <= Tol < 1. 0 means: when no label changes.
	Tol float64
	// Seed is the seed of all random numbers. Start r has a stream of its own.
	Seed uint64
	// Init is InitPlusPlus ("" means it) or InitRandom.
	Init string
	// Start, if not empty, holds the K x d starting centers. Then there is one start, Init is
	// ignored, and K may be 0. Only [KMeans] and [KMeansStream] take it.
	Start blas.Matrix
	// Weights, if not nil, are the weights of the rows in the objective and in the means: one per
	// row, > 0 and finite. A row of weight 2 counts as two equal rows. Only [KMeans] and [Kernel] take
	// weights.
	Weights []float64
	// Progress is called after every start, one call at a time, from the goroutine that ran the
	// start. It may be nil.
	Progress algorithms.ProgressFunc
}

// Result is a partition.
type Result struct {
	// Labels holds the cluster, 0..K-1, of every point.
	Labels []int
	// Centers is K x d: the centers to which the points of Labels are assigned. At
	// convergence row c is the mean of cluster c. A cluster can be empty only when the
	// points have fewer than K distinct values; its center then equals one of the points.
	// Kernel k-means has no centers in coordinates and leaves it 0 x 0.
	Centers blas.Matrix
	// Inertia is the sum of squared distances of the points to their centers.
	Inertia float64
	// Iterations and Converged describe the best start. Converged is false if it ended at MaxIter.
	Iterations int
	Converged  bool
	// Restart is the number of the best start, from 0.
	Restart int
}

// Notices returns a notice if some of the clusters of these sizes are empty, as where too few rows
// differ.
func Notices(sizes []int) []string {
	full := 0
	for _, n := range sizes {
		full += min(n, 1)
	}
	if full == len(sizes) {
		return nil
	}
	return []string{fmt.Sprintf(
		"%d of the %d clusters are empty: want at most %d clusters if no more rows differ",
		len(sizes)-full, len(sizes), full)}
}

// resolve replaces zero values by defaults. It returns an error for the first parameter that is out
// of range for n points.
func (p Params) resolve(n int) (Params, error) {
	if p.Restarts == 0 {
		p.Restarts = DefaultRestarts
	}
	if p.MaxIter == 0 {
		p.MaxIter = DefaultMaxIter
	}
	if p.Init == "" {
		p.Init = InitPlusPlus
	}
	switch {
	case p.K < 1:
		return p, fault.Param("number of clusters", p.K, "a number >= 1")
	case p.K > n:
		return p, fault.Param("number of clusters", p.K, "at most the number of points, %d", n)
	case p.Restarts < 0 || p.Restarts > MaxRestarts:
		return p, fault.Param("restarts", p.Restarts,
			"a number from 1 to %d (0 for %d)", MaxRestarts, DefaultRestarts)
	case p.MaxIter < 0:
		return p, fault.Param("maximum of iterations", p.MaxIter, "a number >= 1 (0 for %d)", DefaultMaxIter)
	case !(p.Tol >= 0 && p.Tol < 1):
		return p, fault.Param("tol", p.Tol, "a number in [0, 1)")
	case p.Init != InitPlusPlus && p.Init != InitRandom:
		return p, fault.Unknown("init", p.Init, []string{InitPlusPlus, InitRandom})
	case p.Start.Rows > 0:
		return p, fault.Param("start", fmt.Sprintf("%d centers", p.Start.Rows),
			"none, since only k-means takes starting centers")
	case p.Weights != nil:
		return p, fault.Param("weights", fmt.Sprintf("%d values", len(p.Weights)),
			"none, since only k-means of rows in memory takes weights")
	}
	return p, nil
}

// resolveStart is resolve for methods that take Start, with rows of d values.
func (p Params) resolveStart(n, d int) (Params, error) {
	if p.Start.Rows == 0 {
		return p.resolve(n)
	}
	start := p.Start
	switch {
	case p.K != 0 && p.K != start.Rows:
		return p, fault.Param("number of clusters", p.K, "%d, as there are centers to start from", start.Rows)
	case start.Cols != d:
		return p, fault.Shape("number of columns of the starting centers", start.Cols,
			"%d, as the rows have", d)
	}
	if err := checkFinite(start); err != nil {
		return p, fmt.Errorf("starting centers: %w", err)
	}
	p.K, p.Restarts, p.Start = start.Rows, 1, blas.Matrix{}
	p, err := p.resolve(n)
	p.Start = start
	return p, err
}

// checkFinite returns an error for the first value of x that is NaN or infinite.
func checkFinite(x blas.Matrix) error { return checkFiniteFrom(x, 0) }

// checkFiniteFrom is checkFinite with rows numbered from first.
func checkFiniteFrom(x blas.Matrix, first int) error {
	for i := range x.Rows {
		if err := points.CheckFinite(x.Row(i), x.Cols, first+i); err != nil {
			return err
		}
	}
	return nil
}

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

func newStart(ctx context.Context, eng *engine.Engine, s *sample, p Params, g *conflictGraph, restart int,
	parallel bool) *start {
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
	target, sum, last := u*blas.Sum(cost), 0.0, 0
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
