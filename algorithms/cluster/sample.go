package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// sample is what Lloyd's iteration works on: weighted rows, moved so that their mean is
// near the origin. Moving a row by a fixed vector rounds each coordinate by at most u times
// its new size, and it keeps the expanded form of the distances accurate.
type sample struct {
	x      blas.Matrix // m x d
	weight weights     // length m, > 0
	norm   []float64   // squared norms of the rows
	shift  []float64   // what was subtracted from every row
}

// newSample validates x (n x d) and returns its rows with weight 1. Cost: three passes
// through x and one copy of it.
func newSample(eng *engine.Engine, x blas.Matrix) (*sample, error) {
	if err := checkFinite(x); err != nil {
		return nil, err
	}
	s := &sample{x: eng.NewMatrix(x.Rows, x.Cols), shift: middleOf(x)}
	move(s.x, x, s.shift)
	return s, s.setNorms()
}

// checkWeights reports weights that n rows cannot have.
func checkWeights(weights []float64, n int) error {
	if weights != nil && len(weights) != n {
		return &fault.ShapeError{What: "number of weights", Got: len(weights), Want: fmt.Sprintf("%d, one a row", n)}
	}
	for i, w := range weights {
		if !(w > 0) || math.IsInf(w, 1) {
			return &fault.DataError{Row: i, Err: fmt.Errorf("weight is %v: want a finite number > 0", w)}
		}
	}
	return nil
}

// runningMean is the mean of rows whose number is not known before the last one. It need not be
// exact.
type runningMean struct {
	rows float64
	mean []float64
}

func (m *runningMean) add(row []float64) {
	m.rows++
	mean := m.of(len(row))
	for j, v := range row {
		mean[j] += (v - mean[j]) / m.rows
	}
}

// of returns the mean, of d columns; 0 without rows.
func (m *runningMean) of(d int) []float64 {
	if m.mean == nil {
		m.mean = make([]float64, d)
	}
	return m.mean
}

// middleOf returns the running mean of all rows.
func middleOf(x blas.Matrix) []float64 {
	var m runningMean
	for i := range x.Rows {
		m.add(x.Row(i))
	}
	return m.of(x.Cols)
}

// move writes the rows of x less shift into dst.
func move(dst, x blas.Matrix, shift []float64) {
	for i := range x.Rows {
		row := dst.Row(i)
		for j, v := range x.Row(i) {
			row[j] = v - shift[j]
		}
	}
}

// moved returns a copy of x less shift.
func moved(x blas.Matrix, shift []float64) blas.Matrix {
	out := blas.NewMatrix(x.Rows, x.Cols)
	move(out, x, shift)
	return out
}

// movedBack returns x with shift added to its rows again.
func movedBack(x blas.Matrix, shift []float64) blas.Matrix {
	out := x.Clone()
	for i := range out.Rows {
		row := out.Row(i)
		for j, v := range shift {
			row[j] += v
		}
	}
	return out
}

// setNorms writes the squared norms of the rows of x into dst.
func setNorms(dst []float64, x blas.Matrix) {
	zero := make([]float64, x.Cols)
	for i := range dst {
		dst[i] = points.SquaredDistance(x.Row(i), zero)
	}
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
	s.norm = make([]float64, s.x.Rows)
	setNorms(s.norm, s.x)
	var e extent
	for i, norm := range s.norm {
		e.add(s.x.Row(i), norm, s.weight.of(i))
	}
	return e.check()
}

// extent is how far rows reach.
type extent struct {
	total, largest float64 // sum and maximum of their squared norms
	widest         float64 // the largest absolute value
}

func (e *extent) add(row []float64, norm, weight float64) {
	e.total += weight * norm
	e.largest = max(e.largest, norm)
	for _, v := range row {
		e.widest = max(e.widest, math.Abs(v))
	}
}

// check reports rows whose squares leave the range of float64.
func (e *extent) check() error {
	// Every distance is at most four times the largest norm: with a finite total nothing
	// overflows later.
	if math.IsNaN(e.total) || e.total > math.MaxFloat64/16 {
		return &fault.DataError{Row: -1, Err: errTooLarge()}
	}
	if e.widest > 0 && e.largest < vanishing {
		return errVanish(e.widest)
	}
	return nil
}

func errTooLarge() error {
	return errors.New("values are too large, their squares overflow: want smaller ones (scale the data)")
}

// vanishing bounds squared distances that have lost digits to the lower end of float64's range,
// with some room.
const vanishing = 0x1p-900

// errVanish says that points differ by too little.
func errVanish(widest float64) error {
	return &fault.DataError{Row: -1, Err: fmt.Errorf("values differ by %g at most, the squares of which vanish: want larger differences (scale the data)", widest)}
}

func (s *sample) rows() int { return s.x.Rows }

// weights are those of rows; nil when all are 1.
type weights []float64

func (w weights) of(i int) float64 {
	if w == nil {
		return 1
	}
	return w[i]
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
