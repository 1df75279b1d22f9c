package graphkernel

import (
	"errors"
	"math"
	"testing"

	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/engine/fault"
)

// Similarities are symmetric up to n eps of the largest, and finite numbers >= 0. The error names
// the row and the column.
func TestCheckSimilarities(t *testing.T) {
	const n, largest = 4, 8.0
	ulps := n * 0x1p-52 * largest
	for name, c := range map[string]struct {
		i, j  int
		v     float64
		wrong bool
	}{
		"as it is":              {0, 0, 1, false},
		"rounding":              {2, 1, 1 + ulps, false},
		"more than rounding":    {2, 1, 1 + 2*ulps, true},
		"less, above":           {1, 2, 1 - 2*ulps, true},
		"negative":              {2, 1, -1, true},
		"negative on diagonal":  {3, 3, -0x1p-1074, true},
		"not a number":          {2, 1, math.NaN(), true},
		"infinite, both places": {2, 2, math.Inf(1), true},
	} {
		s := blas.NewMatrix(n, n)
		for i := range s.Data {
			s.Data[i] = 1
		}
		s.Set(3, 3, largest)
		s.Set(c.i, c.j, c.v)
		err := CheckSimilarities(s)
		if !c.wrong {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		cell, ok := errors.AsType[*fault.DataError](err)
		if !ok {
			t.Errorf("%s: error %v", name, err)
		} else if row := max(c.i, c.j); cell.Row != row {
			t.Errorf("%s: row %d: want %d", name, cell.Row, row)
		}
	}
}
