package prepare

import (
	"fmt"
	"maps"
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
	found := ranges(d.Points)
	for _, j := range slices.Sorted(maps.Keys(found)) {
		r := found[j]
		largest := max(math.Abs(r.low), math.Abs(r.high))
		step := math.Nextafter(largest, math.Inf(1)) - largest
		exact := !r.broken && largest < 1<<53
		if r.empty() || exact || !(r.high > r.low) || step <= coarse*(r.high-r.low) {
			continue
		}
		name := columnName(d, j)
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
	low, high float64
	broken    bool // some are not whole
	count     int
}

func (s *span) empty() bool { return s.count == 0 }

func (s *span) add(v float64) {
	if s.count == 0 {
		s.low, s.high = v, v
	}
	s.low, s.high = min(s.low, v), max(s.high, v)
	s.broken = s.broken || v != math.Trunc(v)
	s.count++
}

// ranges returns those of the columns of numbers, by column. Those of sparse points with zeros are
// left out, as they reach 0, and so are missing cells.
func ranges(x points.Points) map[int]span {
	found := map[int]span{}
	switch x := x.(type) {
	case *points.Dense:
		columns := make([]span, x.D)
		for i := range x.N {
			for j, v := range x.Row(i) {
				columns[j].add(v)
			}
		}
		for j, s := range columns {
			found[j] = s
		}
	case *points.CSR:
		compact, features := x.Compact()
		columns := make([]span, len(features))
		for k, f := range compact.Col {
			columns[f].add(compact.Val[k])
		}
		for f, s := range columns {
			if s.count == x.N {
				found[int(features[f])] = s
			}
		}
	case *points.Mixed:
		for j, c := range x.Columns {
			var s span
			for _, v := range c.Numbers {
				if v == v {
					s.add(v)
				}
			}
			found[j] = s
		}
	}
	return found
}
