package input

import (
	"context"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
)

// Methods multiply squares of values by squares. Values up to Largest have fourth powers that do
// not overflow, however many are summed, and differences from 1/Largest on fourth powers that do
// not vanish; inner products are squares already.
const (
	Largest        = 1e75
	largestProduct = Largest * Largest
)

// Points validates points that a model is asked about: finite, and of a size that can be calculated
// with.
func Points(x points.Points) error {
	if p, ok := x.(*points.Dense); ok && p.D > 0 && len(p.Data)%p.D == 0 && len(p.Data)/p.D == p.N && within(p.Data, Largest) {
		return nil // the usual case, in one pass
	}
	if err := x.Validate(); err != nil {
		return err
	}
	switch p := x.(type) {
	case *points.Dense:
		if k := beyond(p.Data, Largest); k >= 0 {
			return tooLarge(k/p.D, k%p.D, p.Data[k], Largest)
		}
	case *points.CSR:
		if k := beyond(p.Val, Largest); k >= 0 {
			row := 0
			for p.Start[row+1] <= k {
				row++
			}
			return tooLarge(row, int(p.Col[k]), p.Val[k], Largest)
		}
	case *points.Gram:
		if k := beyond(p.Data, largestProduct); k >= 0 {
			return tooLarge(k/p.M, k%p.M, p.Data[k], largestProduct)
		}
		if i := beyond(p.Diagonal, largestProduct); i >= 0 {
			return tooLarge(i, i, p.Diagonal[i], largestProduct)
		}
	}
	return nil
}

// within says whether no value is larger than limit in size, or NaN.
func within(data []float64, limit float64) bool {
	for _, v := range data {
		if !(math.Abs(v) <= limit) {
			return false
		}
	}
	return true
}

// beyond returns the place of the first value that is larger than limit in size, -1 for none.
func beyond(data []float64, limit float64) int {
	for k, v := range data {
		if math.Abs(v) > limit {
			return k
		}
	}
	return -1
}

func tooLarge(row, column int, v, limit float64) error {
	return &fault.DataError{Row: row, Column: strconv.Itoa(column), Err: fmt.Errorf("value is %g: want at most %g in size, since squares of squares overflow (standardize the data, or leave the row or column out)", v, limit)}
}

// distinguishable refuses points that differ, but by so little that squares of their differences
// vanish. It mostly ends at the second point.
func distinguishable(x points.Points) error {
	most, least := 0.0, 1/Largest
	if _, ok := x.(*points.Gram); ok {
		least = 1 / largestProduct
	}
	for size := range sizes(x) {
		if most = max(most, size); most >= least {
			return nil
		}
	}
	if most > 0 {
		return fault.Data("", "the points differ by at most %g: want differences from %g on, since squares of squares vanish (standardize the data, or multiply them)", most, least)
	}
	return nil
}

// sizes goes through what tells points apart: differences from the first of dense ones, the values
// of others.
func sizes(x points.Points) iter.Seq[float64] {
	var values []float64
	switch p := x.(type) {
	case *points.Dense:
		return func(yield func(float64) bool) {
			for i := range p.N {
				first := p.Row(0)
				for j, v := range p.Row(i) {
					if !yield(math.Abs(v - first[j])) {
						return
					}
				}
			}
		}
	case *points.CSR:
		values = p.Val
	case *points.Gram:
		values = p.Data
	}
	return func(yield func(float64) bool) {
		for _, v := range values {
			if !yield(math.Abs(v)) {
				return
			}
		}
	}
}

// moderate refuses a kernel whose values on x are too large or too small to calculate with. Only
// polynomials can have such where the points are of a moderate size themselves.
func moderate(ctx context.Context, eng *engine.Engine, k kernel.Kernel, x points.Points) error {
	if !strings.HasPrefix(k.String(), "poly") {
		return nil
	}
	diagonal, err := k.Diagonal(ctx, eng, x)
	if err != nil {
		return err
	}
	if i := beyond(diagonal, largestProduct); i >= 0 {
		return &fault.DataError{Row: i, Err: fmt.Errorf("the value of kernel %s is %g: want at most %g in size (standardize the data, or use a lower degree)", k, diagonal[i], largestProduct)}
	}
	return nil
}
