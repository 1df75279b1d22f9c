package paper

import (
	"fmt"
	"math"
	"slices"

	"github.com/mustlink/mustlink/bench/printed"
	"github.com/mustlink/mustlink/bench/statistics"
)

// Verdict is the result of comparing a printed value, or an order of methods, with ours.
type Verdict string

// The verdicts. For a printed value: ours is at most one standard deviation away (Reproduced), or
// farther on the good side (Better) or on the bad side (Worse). For an order: the paper's own
// method is ahead of another system on at least half of the columns and certainly behind on none
// (Reproduced), ahead on more columns than it is certainly behind (Mixed), or neither (Worse).
const (
	Reproduced Verdict = "reproduced"
	Better     Verdict = "better"
	Worse      Verdict = "worse"
	Mixed      Verdict = "mixed"
)

// Direction is the direction in which values are better.
type Direction int

// The directions. Values without a direction, such as those of data, are reproduced or not.
const (
	Higher    Direction = 1
	Lower     Direction = -1
	Neither   Direction = 0
	certainty           = 0.05
)

// Comparison is a printed value with ours.
type Comparison struct {
	What    string       `json:"what"`
	Key     *printed.Key `json:"key,omitempty"`     // the printed number, nil if it is not one of the files
	Partial string       `json:"partial,omitempty"` // how our data differ from the paper's, "" if they do not
	Printed Value        `json:"printed"`
	Ours    Value        `json:"ours"`
	// difference in standard deviations, pooled over the printed one and ours; NaN without one
	Units   float64 `json:"-"`
	Verdict Verdict `json:"verdict"`
	// Why describes what was tried, for a verdict other than reproduced or better.
	Why string `json:"why,omitempty"`
}

// rounding is the relative standard deviation up to which values count as constant.
const rounding = 1e-9

// near is the maximum relative difference from a printed value for values without a standard
// deviation.
const near = 0.01

// Compare compares a value with a printed one.
func Compare(what string, printed, ours Value, good Direction, why string) Comparison {
	c := Comparison{What: what, Printed: printed, Ours: ours, Units: math.NaN(), Verdict: Reproduced}
	unit := pooled(printed.SD, ours.SD)
	difference := ours.Mean - printed.Mean
	within := math.Abs(difference) <= near*math.Abs(printed.Mean)
	if unit > rounding*math.Abs(printed.Mean) {
		c.Units = difference / unit
		within = within || math.Abs(c.Units) <= 1
	}
	switch {
	case within:
	case float64(good)*difference > 0:
		c.Verdict = Better
	default:
		c.Verdict, c.Why = Worse, why
	}
	return c
}

// pooled returns the root of the mean of two variances, or the standard deviation that is not NaN.
func pooled(a, b float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	}
	return math.Sqrt((a*a + b*b) / 2)
}

// Claim is a sentence of a paper about the order of methods, with what our numbers say.
type Claim struct {
	Text    string  `json:"text"`    // in our words: "kernel RCA is better than RCA on all sets"
	Verdict Verdict `json:"verdict"` // Reproduced, Mixed or Worse
	Detail  string  `json:"detail"`  // the numbers that decide
}

// Order is the order of the paper's own method and another system over the columns of a table.
type Order struct {
	Own     string `json:"own"`
	Other   string `json:"other"`
	Columns int    `json:"columns"`
	// number of columns on which the mean of the own method is at least as good
	Ahead  int `json:"ahead"`
	Surely int `json:"surely"` // number of these columns with certainty
	// number of columns on which the other is better with certainty (paired Wilcoxon test, 0.05)
	Behind  int     `json:"behind"`
	Student int     `json:"behind_t"` // the same by Student's paired test
	Verdict Verdict `json:"verdict"`
}

// Orders compares the own method of the table with its other systems, over the repetitions of every
// column. It returns none for a table without an own method, and for too few repetitions for
// certainty.
func (r *Result) Orders() ([]Order, error) {
	own := -1
	for i, row := range r.Table.Rows {
		if row.Name == r.Table.Own {
			own = i
		}
	}
	const minTrials = 6 // with five signs, even the most extreme outcome has a probability above 0.05
	if own < 0 || len(r.Trials) < minTrials {
		return nil, nil
	}
	var out []Order
	for i, row := range r.Table.Rows {
		if r.Table.rival(row.Name) {
			o, err := r.order(own, i)
			if err != nil {
				return nil, fmt.Errorf("table %s: %s against %s: %w", r.Table.Name, r.Table.Own, row.Name,
					err)
			}
			out = append(out, o)
		}
	}
	return out, nil
}

// rival reports whether a system is compared with the own method of the table.
func (t Table) rival(name string) bool {
	return name != t.Own && !slices.Contains(t.Variants, name) && !slices.Contains(t.Timed, name)
}

func (r *Result) order(own, other int) (Order, error) {
	o := Order{Own: r.Table.Own, Other: r.Table.Rows[other].Name, Columns: len(r.Table.Columns) -
		len(r.Table.Absent)}
	for j := range r.Table.Columns {
		if r.Table.absent(j) {
			continue
		}
		a, b := r.column(own, j), r.column(other, j)
		_, p, err := statistics.Wilcoxon(a, b)
		if err != nil {
			return o, err
		}
		_, student, err := statistics.PairedT(a, b)
		if err != nil {
			return o, err
		}
		gain := float64(r.Table.Good) * (r.Ours[own][j].Mean - r.Ours[other][j].Mean)
		if gain >= 0 {
			o.Ahead++
			if p < certainty {
				o.Surely++
			}
			continue
		}
		if p < certainty {
			o.Behind++
		}
		if student < certainty {
			o.Student++
		}
	}
	switch {
	case o.Behind == 0 && 2*o.Ahead >= o.Columns:
		o.Verdict = Reproduced
	case o.Ahead > o.Behind:
		o.Verdict = Mixed
	default:
		o.Verdict = Worse
	}
	return o, nil
}

// Comparisons returns the printed values of the table with ours.
func (r *Result) Comparisons() []Comparison {
	var out []Comparison
	for i, row := range r.Table.Rows {
		for j := range row.Printed {
			if c, ok := r.comparison(i, j); ok {
				out = append(out, c)
			}
		}
	}
	if r.Table.Compared != nil {
		out = append(out, r.Table.Compared(r)...)
	}
	return qualify(out, r.Table.Partial)
}

// comparison compares one of our values with the printed one, and reports whether there is one.
func (r *Result) comparison(i, j int) (Comparison, bool) {
	t := r.Table
	printed := t.Rows[i].Printed[j]
	if math.IsNaN(printed.Mean) || t.absent(j) {
		return Comparison{}, false
	}
	what := t.Rows[i].Name
	if len(t.Columns) > 1 {
		what += ", " + t.Columns[j]
	}
	if i >= len(t.Keys) {
		return Compare(what, printed, r.Ours[i][j], t.Good, t.Why), true
	}
	key := t.Keys[i][j]
	c := Compare(what, printed, r.Ours[i][j], directionOf(key), t.Why)
	c.Key = &key
	return c, true
}

// qualify marks the comparisons on data sets that are not the paper's.
func qualify(list []Comparison, partial map[string]string) []Comparison {
	for k, c := range list {
		if c.Key != nil && c.Partial == "" {
			list[k].Partial = partial[c.Key.Dataset]
		}
	}
	return list
}
