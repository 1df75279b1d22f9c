package paper

import (
	"math"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/bench/printed"
)

// Kind is what a printed number is about.
type Kind string

// The kinds of printed numbers.
const (
	Own   Kind = "own"   // quality of the paper's own method, which the paper is about
	Rival Kind = "rival" // quality of the systems that it is compared with
	Mark  Kind = "mark"  // stars, signs, numbers of sets and iterations: what sums up other numbers
	Time  Kind = "time"  // seconds, and ratios of them
	Size  Kind = "size"  // of the data, and numbers of links
)

// kindOf returns the kind of a printed number.
func kindOf(key printed.Key) Kind {
	switch {
	case strings.HasPrefix(key.Measure, "cpu_seconds"), strings.HasPrefix(key.Measure, "speedup"):
		return Time
	case slices.Contains([]string{"classes", "features", "instances", "patterns", "constraints"},
		key.Measure):
		return Size
	case slices.Contains([]string{"significant_best_95", "number_of_data_sets",
		"sign_of_significant_rand_difference", "outer_iterations_to_converge_at_most",
		"objective_difference_to_SDP_solver_tends_to", "iterations_to_align_at_most"}, key.Measure):
		return Mark
	}
	for _, own := range []string{"KRCA", "own method", "BCDNPKL", "G-ML"} { // one in each paper
		if strings.HasPrefix(key.Method, own) {
			return Own
		}
	}
	return Rival
}

// directionOf returns the direction in which the measure of a number is better.
func directionOf(key printed.Key) Direction {
	m := key.Measure
	switch {
	case kindOf(key) == Size, m == "number_of_data_sets",
		strings.HasPrefix(m, "sign_of"), strings.HasPrefix(m, "objective_difference"):
		return Neither
	case strings.HasPrefix(m, "cpu_seconds"), strings.HasSuffix(m, "at_most"):
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
		one := Compare(what, Value{number.Value, number.SD}, ours, directionOf(key), c.why)
		one.Key = &key
		c.list = append(c.list, one)
	}
}

// once returns a value without a standard deviation.
func once(v float64) Value { return Value{v, math.NaN()} }
