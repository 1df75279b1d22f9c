package prepare

import (
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
)

// coarse is the distance of neighboring numbers at the values of a column, relative to the range of
// these, above which the notices name the column.
const coarse = 1e-6

// Coarse returns a notice for each column, of those with the names of inputs or of all if inputs is
// nil, whose values are so far from 0 that numbers cannot express six digits of their differences:
// a column of 1e12 with a range of 1, which has lost the rest where it was written. Whole numbers
// below 2^53 are exact. Cost: O(values).
func Coarse(d *dataset.Data, inputs []string) (notices []string) {
	for _, r := range ranges(d.Points) {
		largest := max(math.Abs(r.low), math.Abs(r.high))
		step := math.Nextafter(largest, math.Inf(1)) - largest
		exact := !r.broken && largest < 1<<53
		if exact || !(r.high > r.low) || step <= coarse*(r.high-r.low) {
			continue
		}
		name := columnName(d, r.column)
		if inputs != nil && !slices.Contains(inputs, name) {
			continue
		}
		notices = append(notices, fmt.Sprintf("column %q has values near %.3g that differ by %.2g at most, where "+
			"numbers of double precision are %.1g apart: subtract a constant where the column is made",
			name, largest, r.high-r.low, step))
	}
	return notices
}

// span is the range of the values of a column.
type span struct {
	column    int
	low, high float64
	broken    bool // some are not whole
	count     int
}

func (s *span) add(v float64) {
	if s.count == 0 {
		s.low, s.high = v, v
	}
	s.low, s.high = min(s.low, v), max(s.high, v)
	s.broken = s.broken || v != math.Trunc(v)
	s.count++
}

// ranges returns those of the columns of numbers, by column, ascending. Those of sparse points with
// zeros are left out, as they reach 0, and so are missing cells.
func ranges(x points.Points) (found []span) {
	switch x := x.(type) {
	case *points.Dense:
		found = make([]span, x.D)
		for i := range x.N {
			for j, v := range x.Row(i) {
				found[j].add(v)
			}
		}
		for j := range found {
			found[j].column = j
		}
	case *points.CSR:
		compact, features := x.Compact()
		found = make([]span, len(features))
		for k, f := range compact.Col {
			found[f].add(compact.Val[k])
		}
		for f := range found {
			found[f].column = int(features[f])
		}
		found = slices.DeleteFunc(found, func(s span) bool { return s.count < x.N })
	case *points.Mixed:
		for j, c := range x.Columns {
			s := span{column: j}
			for _, v := range c.Numbers {
				if v == v {
					s.add(v)
				}
			}
			found = append(found, s)
		}
	}
	return found
}
