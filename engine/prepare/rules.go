package prepare

import (
	"slices"

	"github.com/mustlink/mustlink/engine/dataset"
)

// Rule is what a preparation does with one column, as data: for programs that prepare rows
// elsewhere.
type Rule struct {
	Name   string
	Kind   Kind // Number, Boolean, Category, Date or Text; Drop for a column that is left out
	IsText bool // the fit read texts
	// Numbers and booleans become (value - Mean) / Scale, or 0 where Scale is 0. Fill stands for a
	// gap. If Sides is true there is a second column, in which Above does.
	Fill, Mean, Scale float64
	Sides             bool
	Above             float64
	Indicator         bool      // the last column is 1 for gaps, else 0
	Pair              [2]string // the texts of a boolean in lower case, for 0 and 1; others are gaps
	Gaps              []string  // the texts that are gaps, "" the first; texts have no white space around them
	// Categories become Width columns of zeros and a one, in the column of the text: those of Levels
	// come first. Missing is the column of gaps and Other that of other texts, -1 for no column.
	Width          int
	Levels         []string
	Missing, Other int
	Cyclic         bool // a date has columns of its cycles too
}

// Rules returns the rules of all columns, in the order in which [Preparation.Apply] takes them. The
// columns of the result follow each other in the same order.
func (p *Preparation) Rules() []Rule {
	rules := make([]Rule, len(p.columns))
	for j := range p.columns {
		c := &p.columns[j]
		r := Rule{Name: c.name, Kind: c.kind, IsText: c.isText, Indicator: c.indicator, Width: c.size(p.cyclic)}
		switch c.kind {
		case Number, Boolean, Date:
			n := &c.number
			r.Fill, r.Mean, r.Scale, r.Sides, r.Above, r.Pair = n.fill, n.mean, n.scale, n.sides, n.above, n.source.pair
			r.Cyclic = c.kind == Date && p.cyclic
		case Category:
			r.Levels, r.Missing, r.Other = c.category.levels, -1, -1
			if c.category.pool {
				r.Other = r.Width - 1
			}
			if r.Missing = int(c.category.missingPlace()); r.Missing < 0 {
				r.Missing = r.Other
			}
		}
		r.Gaps = slices.DeleteFunc(dataset.Missing(), func(text string) bool { return !c.isGap(text) })
		rules[j] = r
	}
	return rules
}

// Strict reports whether a gap is an error.
func (p *Preparation) Strict() bool { return p.strict }
