package sampling

import (
	"context"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

const (
	ridge  = 0.01 // as in landmarks.Scores
	scored = 8192 // points whose kernel values are evaluated at a time
)

// Scorer estimates the ridge leverage scores of points that are not all available at once, by the
// formula of landmarks.Scores, from a sample that was drawn uniformly elsewhere. It is immutable
// and safe for concurrent use.
type Scorer struct {
	k      kernel.Kernel
	sample points.Points
	r      float64
	factor blas.Matrix // of the sample's kernel matrix plus the ridge; empty if all scores are 0
}

// NewScorer returns the scorer for m landmarks among n points, of which sample is a uniform sample.
// landmarks.Scores draws 2m points; trace is the sum of k(x,x) over all n points, or n times its
// mean over the sample.
//
// Errors: a *fault.ParamError if m is below 1, if the sample is empty or larger than n, or if the
// trace is negative or not finite; those of [kernel.Kernel.Gram]. Cost: the kernel matrix of the
// sample and its Cholesky decomposition.
func NewScorer(ctx context.Context, eng *engine.Engine, k kernel.Kernel, sample points.Points, m, n int,
	trace float64) (*Scorer, error) {
	s := sample.Len()
	switch {
	case m < 1:
		return nil, &fault.ParamError{Param: "landmarks", Value: m, Want: "a number >= 1"}
	case s < 1 || s > n:
		return nil, &fault.ParamError{Param: "points of the sample", Value: s,
			Want: fmt.Sprintf("a number from 1 to %d, the number of all points", n)}
	case !(trace >= 0) || math.IsInf(trace, 1):
		return nil, &fault.ParamError{Param: "trace of the kernel matrix", Value: trace,
			Want: "a finite number >= 0"}
	}
	scorer := &Scorer{k: k, sample: sample, r: ridge * trace / float64(m)}
	if trace == 0 {
		return scorer, nil
	}
	var err error
	if scorer.factor, err = k.Gram(ctx, eng, sample); err != nil {
		return nil, err
	}
	for i := range s {
		scorer.factor.Set(i, i, scorer.factor.At(i, i)+scorer.r*float64(s)/float64(n))
	}
	return scorer, eng.Cholesky(ctx, scorer.factor)
}

// Scores returns the scores of the points of x, between 0 and 1. The score of a point is
// bit-identical for any other points in x (netlib: up to rounding). Cost for a sample of s points:
// s kernel values and s^2 flops per point. Errors are those of the kernel on x, and ctx.Err().
func (s *Scorer) Scores(ctx context.Context, eng *engine.Engine, x points.Points) ([]float64, error) {
	scores, err := s.k.Diagonal(ctx, eng, x)
	if err != nil || s.factor.Rows == 0 {
		clear(scores)
		return scores, err
	}
	values := eng.GetMatrix(min(x.Len(), scored), s.factor.Rows)
	defer eng.PutMatrix(values)
	for lo := 0; lo < x.Len(); lo += scored {
		hi := min(lo+scored, x.Len())
		part := values.View(0, hi-lo, 0, values.Cols)
		if err := s.k.CrossTo(ctx, eng, part, points.Slice(x, lo, hi), s.sample); err != nil {
			return nil, err
		}
		eng.Backend().Trsm(false, true, s.factor, part)
		for i := range part.Rows {
			left := scores[lo+i]
			for _, v := range part.Row(i) {
				left -= v * v
			}
			scores[lo+i] = max(0, min(1, left/s.r))
		}
	}
	return scores, nil
}
