package neighborindex

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/mustlink/mustlink/algorithms/internal/quickselect"
	"github.com/mustlink/mustlink/asm"
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

// order calls found with numbers that order the centers as their distances from a query do, for
// each query. They must not be kept. Queries are numbered from first in errors.
func (r *ranking) order(ctx context.Context, queries blas.Matrix, first int, found func(i int, numbers []float64)) error {
	return r.eng.For(ctx, queries.Rows, stripRows, func(lo, hi int) (err error) {
		s := newStrip(r.eng, queries.Cols, r.centers.vectors)
		defer s.release()
		s.scan(&r.centers, hi-lo, func(q int) []float64 { return queries.Row(lo + q) },
			func(q, _ int, distances []float64, norm, _ float64) {
				switch {
				case err != nil:
				case !(norm < largestSquare):
					err = tooFar(queries.Row(lo+q), first+lo+q)
				default:
					found(lo+q, distances)
				}
			})
		return err
	})
}

// chooser finds the cells with the smallest numbers.
type chooser struct {
	t     *asm.Table
	never []float64 // limits that no number meets
	keys  []quickselect.Key
	count int
}

func newChooser(t *asm.Table, cells, count int) *chooser {
	return &chooser{t: t, never: slices.Repeat([]float64{math.Inf(-1)}, cells), count: count}
}

// choose writes the cells with the smallest numbers to cells: the first one first, then, in any
// order, those of the ranks up to early, and then the others. Equal numbers are in the order of
// their cells.
func (c *chooser) choose(numbers []float64, early int, cells []int32) {
	const few = 16 // are sorted faster than selected
	if c.count <= few {
		c.sort(numbers)
	} else {
		c.below(numbers, c.guess(numbers))
		if len(c.keys) < c.count {
			c.below(numbers, math.Inf(1))
		}
		quickselect.First(c.keys, c.count)
		quickselect.First(c.keys[:c.count], early)
		quickselect.First(c.keys[:early], 1)
	}
	for r, k := range c.keys[:c.count] {
		cells[r] = k.Row
	}
}

// sort sets the keys to the smallest, in order.
func (c *chooser) sort(numbers []float64) {
	c.keys = c.keys[:0]
	limit := math.Inf(1)
	for j := 0; j < len(numbers); j++ {
		j += c.t.FirstBelow(numbers[j:], c.never[j:], limit)
		if j == len(numbers) || !(numbers[j] < limit) {
			continue // or as far as the last, but later
		}
		if len(c.keys) < c.count {
			c.keys = append(c.keys, quickselect.Key{})
		}
		at := len(c.keys) - 1
		for ; at > 0 && numbers[j] < c.keys[at-1].Value; at-- {
			c.keys[at] = c.keys[at-1]
		}
		c.keys[at] = quickselect.Key{Value: numbers[j], Row: int32(j)}
		if len(c.keys) == c.count {
			limit = c.keys[c.count-1].Value
		}
	}
}

// guess returns a limit that somewhat more numbers than are chosen are below, as a sample says.
func (c *chooser) guess(numbers []float64) float64 {
	const step = 8
	c.keys = c.keys[:0]
	for j := 0; j < len(numbers); j += step {
		c.keys = append(c.keys, quickselect.Key{Value: numbers[j], Row: int32(j)})
	}
	expected := float64(c.count) / step
	rank := int(expected + 2*math.Sqrt(expected) + 1)
	if rank >= len(c.keys) {
		return math.Inf(1)
	}
	quickselect.First(c.keys, rank)
	return slices.MaxFunc(c.keys[:rank], quickselect.Key.Compare).Value
}

// below sets the keys to those below a limit.
func (c *chooser) below(numbers []float64, limit float64) {
	c.keys = c.keys[:0]
	for j, number := range numbers {
		if number < limit {
			c.keys = append(c.keys, quickselect.Key{Value: number, Row: int32(j)})
		}
	}
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
