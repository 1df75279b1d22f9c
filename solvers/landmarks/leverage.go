package landmarks

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// ridge is the ridge of the leverage scores relative to the trace over the number of landmarks:
// about the smallest eigenvalue that as many landmarks can be expected to resolve.
const ridge = 0.01

// leverage draws the remaining points with their approximate scores as weights, without
// replacement: the largest u_i^(1/score_i), with u_i uniform (Efraimidis & Spirakis 2006).
func (c *choice) leverage(ctx context.Context) error {
	scores, err := Scores(ctx, c.eng, c.src, c.m, c.rng.Uint64())
	if err != nil {
		return err
	}
	type key struct {
		i     int
		value float64
	}
	var keys []key
	for i, s := range scores {
		u := c.rng.Float64()
		if !c.taken[i] {
			// log u / score has the order of u^(1/score); a score of 0 comes last.
			keys = append(keys, key{i, math.Log(u) / s})
		}
	}
	slices.SortStableFunc(keys, func(a, b key) int { return cmp.Compare(b.value, a.value) })
	for _, k := range keys[:c.m-len(c.list)] {
		c.take(k.i)
	}
	return nil
}

// Scores returns approximate ridge leverage scores of all points, between 0 and 1. The exact scores
// are
//
//	l_i = (K (K + r I)^-1)_ii,    r = 0.01 tr(K) / m,
//
// They are estimated from s = 2m points S drawn uniformly, each of which represents n/s points
// (Musco & Musco 2017):
//
//	(k_ii - k_iS (K_SS + r s/n I)^-1 k_Si) / r, at most 1,
//
// which is exact if S has all points. The sum of the scores is the number of directions in which
// the points extend beyond the ridge. Cost: 2m columns of the kernel matrix, a Cholesky
// decomposition of order 2m, and 4 n m^2 flops. Errors: 2m (2m + a block) values above the memory
// limit, those of the source, and ctx.Err().
func Scores(ctx context.Context, eng *engine.Engine, src Source, m int, seed uint64) ([]float64, error) {
	n := src.Len()
	s := min(n, 2*m)
	if err := eng.Check(fmt.Sprintf("%d columns for leverage scores", s), engine.MatrixBytes(s, s+block), "use fewer landmarks or raise the memory limit"); err != nil {
		return nil, err
	}
	scores, err := src.Diagonal(ctx)
	if err != nil {
		return nil, err
	}
	trace := 0.0
	for _, v := range scores {
		trace += v
	}
	if !(trace > 0) || s == 0 {
		clear(scores)
		return scores, nil
	}
	r := ridge * trace / float64(m)
	sample, err := Select(ctx, eng, Uniform, src, s, nil, seed)
	if err != nil {
		return nil, err
	}
	slices.Sort(sample)
	factor := eng.GetMatrix(s, s)
	defer eng.PutMatrix(factor)
	if err := gather(ctx, eng, src, sample, factor); err != nil {
		return nil, err
	}
	for i := range s {
		factor.Set(i, i, factor.At(i, i)+r*float64(s)/float64(n))
	}
	if err := eng.Cholesky(ctx, factor); err != nil {
		return nil, err
	}
	err = eachBlock(ctx, eng, src, sample, func(lo int, columns blas.Matrix) error {
		eng.Backend().Trsm(true, false, factor, columns)
		for j := range columns.Cols {
			scores[lo+j] /= r
		}
		for i := range s {
			for j, v := range columns.Row(i) {
				scores[lo+j] -= v * v / r
			}
		}
		return nil
	})
	for i, v := range scores {
		scores[i] = max(0, min(1, v))
	}
	return scores, err
}

// gather writes the kernel matrix of the sample, in ascending order, to dst.
func gather(ctx context.Context, eng *engine.Engine, src Source, sample []int, dst blas.Matrix) error {
	return eachBlock(ctx, eng, src, sample, func(lo int, columns blas.Matrix) error {
		for j, i := range sample {
			if i < lo || i >= lo+columns.Cols {
				continue
			}
			for c := range sample {
				dst.Set(c, j, columns.At(c, i-lo))
			}
		}
		return nil
	})
}

// eachBlock calls f with the columns of the sample, block by block of points.
func eachBlock(ctx context.Context, eng *engine.Engine, src Source, sample []int, f func(lo int, columns blas.Matrix) error) error {
	n := src.Len()
	columns := eng.GetMatrix(len(sample), min(n, block))
	defer eng.PutMatrix(columns)
	for lo := 0; lo < n; lo += block {
		hi := min(lo+block, n)
		part := columns.View(0, len(sample), 0, hi-lo)
		if err := src.Columns(ctx, sample, lo, hi, part); err != nil {
			return err
		}
		if err := f(lo, part); err != nil {
			return err
		}
	}
	return nil
}

// Scorer estimates the ridge leverage scores of points that are not all available at once, by the
// formula of [Scores], from a sample that was drawn uniformly elsewhere. It is immutable and safe
// for concurrent use.
type Scorer struct {
	k      kernel.Kernel
	sample points.Points
	r      float64
	factor blas.Matrix // of the sample's kernel matrix plus the ridge; empty if all scores are 0
}

// NewScorer returns the scorer for m landmarks among n points, of which sample is a uniform sample.
// [Scores] draws 2m points; trace is the sum of k(x,x) over all n points, or n times its mean over
// the sample.
//
// Errors: a *fault.ParamError if m is below 1, if the sample is empty or larger than n, or if the
// trace is negative or not finite; those of [kernel.Kernel.Gram]. Cost: the kernel matrix of the
// sample and its Cholesky decomposition.
func NewScorer(ctx context.Context, eng *engine.Engine, k kernel.Kernel, sample points.Points, m, n int, trace float64) (*Scorer, error) {
	s := sample.Len()
	switch {
	case m < 1:
		return nil, &fault.ParamError{Param: "landmarks", Value: m, Want: "a number >= 1"}
	case s < 1 || s > n:
		return nil, &fault.ParamError{Param: "points of the sample", Value: s, Want: fmt.Sprintf("a number from 1 to %d, the number of all points", n)}
	case !(trace >= 0) || math.IsInf(trace, 1):
		return nil, &fault.ParamError{Param: "trace of the kernel matrix", Value: trace, Want: "a finite number >= 0"}
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
	values := eng.GetMatrix(min(x.Len(), block), s.factor.Rows)
	defer eng.PutMatrix(values)
	for lo := 0; lo < x.Len(); lo += block {
		hi := min(lo+block, x.Len())
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
