package prepare

import (
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
)

// Sample keeps a uniform sample of the rows of a stream, to fit a preparation to. It has at most a
// given number of rows. The rows depend on the seed and on their numbers in the stream, and not on
// the blocks in which they come.
//
// A quantile of n sampled rows has ranks within a share sqrt(log(2/p)/(2n)) of those that it has
// among all rows, but for a probability of p (Massart 1990, Corollary 1): 1.1 % for n = 65536 and p
// = 1e-6.
type Sample struct {
	size    int
	seed    uint64
	most    uint64   // rows whose keys are larger are left out
	keys    []uint64 // of the rows that are kept
	numbers []int    // of these rows in the stream
	columns []sampled
	first   *dataset.Data // without rows
	dense   bool          // no column has texts or gaps
	rows    int           // of the stream so far
}

// sampled are the kept cells of a column, and the positions of its levels.
type sampled struct {
	points.Column
	known map[string]int32
}

// NewSample returns an empty sample of at most size rows.
func NewSample(size int, seed uint64) *Sample {
	return &Sample{size: max(1, size), seed: seed, most: ^uint64(0), dense: true}
}

// Rows returns the number of rows of the stream so far.
func (s *Sample) Rows() int { return s.rows }

// Add takes the next rows of the stream, which are a table. Cost: O(1) for a row that is not kept.
func (s *Sample) Add(d *dataset.Data) error {
	var rows []int
	for i := range d.Points.Len() {
		if key := keyOf(s.seed, s.rows+i); key <= s.most {
			rows, s.keys, s.numbers = append(rows, i), append(s.keys, key), append(s.numbers, s.rows+i)
		}
	}
	s.rows += d.Points.Len()
	if s.first != nil && len(rows) == 0 {
		return nil
	}
	picked := d.Points.Select(rows)
	if _, dense := d.Points.(*points.Dense); !dense {
		s.dense = false
	}
	columns, err := columnsOf(picked)
	if err != nil {
		return err
	}
	if s.first == nil {
		s.first = &dataset.Data{Name: d.Name, Features: d.Features}
		s.columns = make([]sampled, len(columns))
	}
	for j := range columns {
		s.columns[j].add(&columns[j])
	}
	if len(s.keys) > 2*s.size {
		s.shrink()
	}
	return nil
}

// Data returns the rows that are kept, in the order of the stream, and their numbers in it. At
// least one block must have been added.
func (s *Sample) Data() (d *dataset.Data, numbers []int) {
	if len(s.keys) > s.size {
		s.shrink()
	}
	out := *s.first
	table := &points.Mixed{N: len(s.keys), Columns: make([]points.Column, len(s.columns))}
	for j := range s.columns {
		table.Columns[j] = s.columns[j].Column
		if out.Features != nil {
			table.Columns[j].Name = out.Features[j] // rows of numbers have no names
		}
	}
	out.Points = table
	if x, err := table.Dense(); s.dense && err == nil {
		out.Points = x
	}
	return &out, s.numbers
}

// shrink leaves the size rows with the smallest keys.
func (s *Sample) shrink() {
	sorted := slices.Sorted(slices.Values(s.keys))
	s.most = sorted[s.size-1]
	var rows []int
	for i, key := range s.keys {
		if key <= s.most {
			rows = append(rows, i)
		}
	}
	s.keys, s.numbers = points.Keep(s.keys, rows), points.Keep(s.numbers, rows)
	for j := range s.columns {
		c := &s.columns[j]
		c.Numbers, c.Codes = points.Keep(c.Numbers, rows), points.Keep(c.Codes, rows)
	}
}

// add appends the cells of a part of the column.
func (c *sampled) add(x *points.Column) {
	c.Name = x.Name
	if !x.IsText() {
		c.Numbers = append(c.Numbers, x.Numbers...)
		return
	}
	if c.known == nil {
		c.known, c.Codes = map[string]int32{}, []int32{}
	}
	for _, code := range x.Codes {
		if code >= 0 {
			code = c.Level(x.Levels[code], c.known)
		}
		c.Codes = append(c.Codes, code)
	}
}

// keyOf returns the key of a row: all rows have different ones, which look random (Steele, Lea &
// Flood 2014, the finalizer of SplitMix64).
func keyOf(seed uint64, row int) uint64 {
	z := seed + uint64(row)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

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
		notices = append(notices,
			fmt.Sprintf("column %q has values near %.3g that differ by %.2g at most, where "+
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
