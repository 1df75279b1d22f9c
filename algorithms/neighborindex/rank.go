package neighborindex

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// ranking orders cells by the rounded distances of their centers from a query, ties by number.
type ranking struct {
	eng     *engine.Engine
	centers panel
}

func newRanking(eng *engine.Engine, centers blas.Matrix) *ranking {
	t, d := eng.Backend().Kernels(), centers.Cols
	middle, copied := make([]float64, d), blas.NewMatrix(centers.Rows, d+1)
	for c := range centers.Rows {
		t.Axpy(1/float64(centers.Rows), centers.Row(c), middle)
		copy(copied.Row(c), centers.Row(c))
	}
	r := &ranking{eng: eng}
	r.centers.pack(eng, copied, middle, make([]float64, panelSize(eng, centers.Rows, d)), math.Inf(1))
	return r
}

// order calls found with numbers that order the centers as their distances from a query do, for all
// queries and some centers at a time: those of query i from center j on. Queries are numbered from
// first in errors.
func (r *ranking) order(ctx context.Context, queries blas.Matrix, first int, found func(i, j int, numbers []float64)) error {
	return r.eng.For(ctx, queries.Rows, stripRows, func(lo, hi int) error {
		s := newStrip(r.eng, queries.Cols)
		defer s.release()
		s.scan(&r.centers, hi-lo, func(q int) []float64 { return queries.Row(lo + q) },
			func(q, j int, distances []float64, _, _ float64) { found(lo+q, j, distances) })
		for q := range hi - lo {
			if !(s.norm[q] < largestSquare) {
				return tooFar(queries.Row(lo+q), first+lo+q)
			}
		}
		return nil
	})
}

// largestSquare bounds squared distances from the middle of the centers, so that no other squared
// distance overflows.
const largestSquare = math.MaxFloat64 / 64

// tooFar reports a row that is not finite, or too far from all others.
func tooFar(row []float64, number int) error {
	for j, v := range row {
		if v-v != 0 {
			return &fault.DataError{Row: number, Column: strconv.Itoa(j), Err: fmt.Errorf("value is %v: want a finite number", v)}
		}
	}
	return &fault.DataError{Row: number, Err: errTooFar}
}

var errTooFar = fmt.Errorf("squared distances overflow: want smaller values; scale the data")
