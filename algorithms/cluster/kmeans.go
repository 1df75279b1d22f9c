package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
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
	return eng.Check(fmt.Sprintf("%s of %d x %d values", what, n, d), clusterBytes(eng, n, d, p), "cluster a sample of the rows, or stream them")
}

// clusterBytes estimates what clustering n rows of d values takes: a copy of the rows and the
// vectors of the starts under way.
func clusterBytes(eng *engine.Engine, n, d int, p Params) int64 {
	starts := int64(min(eng.Workers(), p.Restarts))
	return engine.MatrixBytes(n, d+2) + starts*engine.MatrixBytes(n, 5) + int64(eng.Workers())*engine.MatrixBytes(p.K, d+assignBlock)
}

func (r *start) result(restart int) *Result {
	return &Result{
		Labels: r.labels, Centers: movedBack(r.centers, r.s.shift), Inertia: r.last(),
		Iterations: r.iterations, Converged: r.converged, Restart: restart,
	}
}

// bestStart runs all starts of k-means; see best.
func bestStart(ctx context.Context, eng *engine.Engine, s *sample, p Params, g *conflictGraph, stage string) (*start, int, error) {
	return best(ctx, eng, p, stage, func(restart int, parallel bool) *start { return newStart(ctx, eng, s, p, g, restart, parallel) })
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
func best[R runner](ctx context.Context, eng *engine.Engine, p Params, stage string, begin func(restart int, parallel bool) R) (R, int, error) {
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
