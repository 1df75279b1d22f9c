package cluster

import (
	"context"
	"errors"
	"fmt"
	"github.com/mustlink/mustlink/engine/points"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// sample is what Lloyd's iteration works on: weighted rows, moved so that their mean is
// near the origin. Moving a row by a fixed vector rounds each coordinate by at most u times
// its new size, and it keeps the expanded form of the distances accurate.
type sample struct {
	x      blas.Matrix // m x d
	weight []float64   // length m, > 0; nil when all are 1
	norm   []float64   // squared norms of the rows
	shift  []float64   // what was subtracted from every row
}

// newSample validates x (n x d) and returns its rows with weight 1. Cost: three passes
// over x and one copy of it.
func newSample(eng *engine.Engine, x blas.Matrix) (*sample, error) {
	if err := checkFinite(x); err != nil {
		return nil, err
	}
	s := &sample{x: eng.NewMatrix(x.Rows, x.Cols), shift: columnMeans(x)}
	for i := range x.Rows {
		row := s.x.Row(i)
		for j, v := range x.Row(i) {
			row[j] = v - s.shift[j]
		}
	}
	return s, s.setNorms()
}

// columnMeans returns the mean of every column. Dividing before adding keeps the sum of
// huge values finite; the result need not be the exact mean.
func columnMeans(x blas.Matrix) []float64 {
	mean := make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			mean[j] += v / float64(x.Rows)
		}
	}
	return mean
}

func (s *sample) setNorms() error {
	zero := make([]float64, s.x.Cols)
	s.norm = make([]float64, s.x.Rows)
	total, largest, widest := 0.0, 0.0, 0.0
	for i := range s.norm {
		s.norm[i] = points.SquaredDistance(s.x.Row(i), zero)
		total += s.weightOf(i) * s.norm[i]
		largest = max(largest, s.norm[i])
		for _, v := range s.x.Row(i) {
			widest = max(widest, math.Abs(v))
		}
	}
	// Every distance is at most four times the largest norm: with a finite total nothing
	// overflows later.
	if math.IsNaN(total) || total > math.MaxFloat64/16 {
		return &fault.DataError{Row: -1, Err: errors.New("values are too large, their squares overflow: want smaller ones (scale the data)")}
	}
	if widest > 0 && largest < vanishing {
		return errVanish(widest)
	}
	return nil
}

// vanishing bounds squared distances that have lost digits to the lower end of float64's range, with some room.
const vanishing = 0x1p-900

// errVanish says that points differ by too little.
func errVanish(widest float64) error {
	return &fault.DataError{Row: -1, Err: fmt.Errorf("values differ by %g at most, the squares of which vanish: want larger differences (scale the data)", widest)}
}

func (s *sample) rows() int { return s.x.Rows }

func (s *sample) weightOf(i int) float64 {
	if s.weight == nil {
		return 1
	}
	return s.weight[i]
}

// loop runs f over the fixed blocks of [0, n), in parallel or on this goroutine. The
// blocks are the same either way.
func loop(ctx context.Context, eng *engine.Engine, parallel bool, n, block int, f func(lo, hi int) error) error {
	if parallel {
		return eng.For(ctx, n, block, f)
	}
	for lo := 0; lo < n; lo += block {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(lo, min(n, lo+block)); err != nil {
			return err
		}
	}
	return nil
}
