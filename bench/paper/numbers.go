package paper

import (
	"math"
	"strings"

	"github.com/mustlink/mustlink/bench/printed"
)

// Kind is what a printed number is about.
type Kind string

// The kinds of printed numbers.
const (
	Quality Kind = "quality"
	Time    Kind = "time" // seconds, and ratios of them
	Size    Kind = "size" // of the data, and numbers of links
)

// kindOf returns the kind of a measure.
func kindOf(measure string) Kind {
	switch {
	case strings.HasPrefix(measure, "cpu_seconds"), strings.HasPrefix(measure, "speedup"):
		return Time
	case measure == "classes", measure == "features", measure == "instances", measure == "patterns", measure == "constraints":
		return Size
	}
	return Quality
}

// directionOf returns the direction in which a measure is better.
func directionOf(measure string) Direction {
	switch {
	case kindOf(measure) == Size, measure == "number_of_data_sets", strings.HasPrefix(measure, "sign_of"), strings.HasPrefix(measure, "objective_difference"):
		return Neither
	case strings.HasPrefix(measure, "cpu_seconds"), strings.HasSuffix(measure, "at_most"):
		return Lower
	}
	return Higher
}

// print sets the printed numbers of a table: key returns the name of that of a row and a column.
// Where there is no such number, the table has none.
func (t *Table) print(key func(row, column string) printed.Key) {
	t.Keys = nil
	for _, row := range t.Rows {
		var keys []printed.Key
		for _, column := range t.Columns {
			keys = append(keys, key(row.Name, column))
		}
		t.Keys = append(t.Keys, keys)
	}
	*t = t.With(printed.Builtin())
}

// With returns the table with other printed numbers, those of a folder of the user.
func (t Table) With(n *printed.Numbers) Table {
	t.numbers = n
	rows := make([]Row, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = row
		if i >= len(t.Keys) {
			continue
		}
		rows[i].Printed = Unprinted(len(t.Columns))
		for j, key := range t.Keys[i] {
			if number, ok := n.Find(key); ok {
				rows[i].Printed[j] = Value{number.Value, number.SD}
			}
		}
	}
	t.Rows = rows
	return t
}

// With returns the figure with other printed numbers, those of a folder of the user.
func (f Figure) With(n *printed.Numbers) Figure {
	f.numbers = n
	return f
}

// comparisons collects comparisons with printed numbers.
type comparisons struct {
	numbers *printed.Numbers
	why     string // what was tried where ours is worse
	list    []Comparison
}

// add compares a value with the printed number of that key, if there is one.
func (c *comparisons) add(what string, key printed.Key, ours Value) {
	n := c.numbers
	if n == nil {
		n = printed.Builtin()
	}
	if number, ok := n.Find(key); ok {
		one := Compare(what, Value{number.Value, number.SD}, ours, directionOf(key.Measure), c.why)
		one.Key = &key
		c.list = append(c.list, one)
	}
}

// once returns a value without a standard deviation.
func once(v float64) Value { return Value{v, math.NaN()} }
