package cluster

import (
	"fmt"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

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
	// Restarts is the number of starts. The result is that of the best start (ties: the earlier one).
	// 0 means DefaultRestarts, at most MaxRestarts.
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
	// Start, if not empty, holds the K x d starting centers. Then there is one start, Init is ignored,
	// and K may be 0. Only [KMeans] and [KMeansStream] take it.
	Start blas.Matrix
	// Weights, if not nil, are the weights of the rows in the objective and in the means: one per row,
	// > 0 and finite. A row of weight 2 counts as two equal rows. Only [KMeans] takes weights.
	Weights []float64
	// Progress is called after every start, one call at a time, from the goroutine that ran the start.
	// It may be nil.
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
	return []string{fmt.Sprintf("%d of the %d clusters are empty: want at most %d clusters if no more rows differ",
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
		return p, &fault.ParamError{Param: "number of clusters", Value: p.K, Want: "a number >= 1"}
	case p.K > n:
		return p, &fault.ParamError{Param: "number of clusters", Value: p.K, Want: fmt.Sprintf("at most the number of points, %d", n)}
	case p.Restarts < 0 || p.Restarts > MaxRestarts:
		return p, &fault.ParamError{Param: "restarts", Value: p.Restarts, Want: fmt.Sprintf("a number from 1 to %d (0 for %d)", MaxRestarts, DefaultRestarts)}
	case p.MaxIter < 0:
		return p, &fault.ParamError{Param: "maximum of iterations", Value: p.MaxIter, Want: fmt.Sprintf("a number >= 1 (0 for %d)", DefaultMaxIter)}
	case !(p.Tol >= 0 && p.Tol < 1):
		return p, &fault.ParamError{Param: "tol", Value: p.Tol, Want: "a number in [0, 1)"}
	case p.Init != InitPlusPlus && p.Init != InitRandom:
		return p, fault.Unknown("init", p.Init, []string{InitPlusPlus, InitRandom})
	case p.Start.Rows > 0:
		return p, &fault.ParamError{Param: "start", Value: fmt.Sprintf("%d centers", p.Start.Rows), Want: "none, since only k-means takes starting centers"}
	case p.Weights != nil:
		return p, &fault.ParamError{Param: "weights", Value: fmt.Sprintf("%d values", len(p.Weights)), Want: "none, since only k-means of rows in memory takes weights"}
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
		return p, &fault.ParamError{Param: "number of clusters", Value: p.K, Want: fmt.Sprintf("%d, as there are centers to start from", start.Rows)}
	case start.Cols != d:
		return p, &fault.ShapeError{What: "number of columns of the starting centers", Got: start.Cols, Want: fmt.Sprintf("%d, as the rows have", d)}
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
