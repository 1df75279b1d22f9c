package prepare

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// A column decides links if at most one in leakErrors must-links joins different cells, and at most
// one in leakErrors cannot-links joins equal ones. A column of noise with two values does so by
// chance in 2^-20 cases if leakRows must-links are independent, and as many cannot-links.
const (
	leakErrors = 50
	leakRows   = 10
)

// mostMust is the number of must-links up to which each is looked at; of more, those of neighboring
// rows of every component are.
const mostMust = 1 << 20

// Leak is a column that decides the links: its cells are equal in nearly all must-links, and differ
// in nearly all cannot-links. It may be the label that the links were made from, and then a metric
// that learns from it is good on these rows alone.
type Leak struct {
	Column string // its name, or its number if it has none
	All    bool   // it decides every link
}

// String says what a user has to know: `column "churn" agrees on all must-links …`.
func (l Leak) String() string {
	all := "nearly all"
	if l.All {
		all = "all"
	}
	return fmt.Sprintf("column %q agrees on %s must-links and differs on %s cannot-links: is it the label?",
		l.Column, all, all)
}

// Notice is the notice of a fit that had the column as a feature.
func (l Leak) Notice() string { return l.String() + " Then leave it out of the features" }

// Leaks returns the columns of a table that decide the links alone, of those with the names of
// inputs, or of all if inputs is nil. Numbers and texts are compared as they are, so columns of
// measured numbers are no leaks however well they separate the links. There are none without
// leakRows independent must-links and cannot-links of twice as many rows, nor in points that are no
// table.
//
// Cost: O(links) for each column that decides them, and O(1) for nearly all others.
func Leaks(d *dataset.Data, inputs []string, set *links.Set) (found []Leak) {
	if set.N() != d.Points.Len() || !enoughToTell(set) {
		return nil
	}
	must, cannot := linkedPairs(set)
	wanted := make(map[string]bool)
	for _, name := range inputs {
		wanted[name] = true
	}
	for j := range d.Points.Dim() {
		same := comparer(d.Points, j)
		if same == nil {
			return nil
		}
		name := columnName(d, j)
		if inputs != nil && !wanted[name] {
			continue
		}
		apart, one := countUpTo(must, func(a, b int) bool { return !same(a, b) })
		if !one {
			continue
		}
		equal, two := countUpTo(cannot, same)
		if two {
			found = append(found, Leak{Column: name, All: apart+equal == 0})
		}
	}
	return found
}

// enoughToTell reports whether the links are so many that chance does not decide them.
func enoughToTell(set *links.Set) bool {
	if set.N()-set.NumComponents() < leakRows {
		return false
	}
	rows := make(map[int]bool)
	for _, l := range set.Cannot() {
		rows[l.I], rows[l.J] = true, true
		if len(rows) >= 2*leakRows {
			return true
		}
	}
	return false
}

// linkedPairs returns the rows of the links.
func linkedPairs(set *links.Set) (must, cannot [][2]int) {
	if count, _ := set.Count(); count > mostMust {
		for _, rows := range set.Chunklets() {
			for k, i := range rows[1:] {
				must = append(must, [2]int{rows[k], i})
			}
		}
	} else {
		for _, l := range set.Must() {
			must = append(must, [2]int{l.I, l.J})
		}
	}
	for _, l := range set.Cannot() {
		cannot = append(cannot, [2]int{l.I, l.J})
	}
	return must, cannot
}

// countUpTo counts the pairs that are wrong. It stops, and is not ok, if more than one in
// leakErrors are.
func countUpTo(pairs [][2]int, wrong func(a, b int) bool) (count int, ok bool) {
	for _, p := range pairs {
		if wrong(p[0], p[1]) {
			if count++; count*leakErrors > len(pairs) {
				return count, false
			}
		}
	}
	return count, true
}

// columnName returns the name of a column of a table, or its number.
func columnName(d *dataset.Data, j int) string {
	if x, mixed := d.Points.(*points.Mixed); mixed {
		return x.Columns[j].Name
	}
	if d.Features != nil {
		return d.Features[j]
	}
	return strconv.Itoa(j)
}

// comparer returns what compares the cells of two rows in a column; missing cells are equal. It is
// nil for points that are no table.
func comparer(x points.Points, j int) func(a, b int) bool {
	switch x := x.(type) {
	case *points.Dense:
		return func(a, b int) bool { return x.Data[a*x.D+j] == x.Data[b*x.D+j] }
	case *points.Mixed:
		if c := &x.Columns[j]; c.IsText() {
			return func(a, b int) bool { return c.Codes[a] == c.Codes[b] }
		} else {
			return func(a, b int) bool {
				v, w := c.Numbers[a], c.Numbers[b]
				return v == w || v != v && w != w
			}
		}
	}
	return nil
}

// Inputs returns the names of the columns that a model takes, of a table with columns of these
// names that a transform prepares: nil if they have none.
func Inputs(by dataset.Transform, names []string) []string {
	if p := ByColumn(by); p != nil {
		return p.Columns()
	}
	return names
}

// lookAlike is a way in which texts look like numbers or dates that were not read as such, and what
// to do about them.
type lookAlike struct {
	pattern *regexp.Regexp
	want    string
	date    bool
}

// lookAlikes returns the ways; the first that fits counts. They are compiled where they are first
// used, since most programs that link the package never do.
var lookAlikes = sync.OnceValue(func() []lookAlike {
	return []lookAlike{
		{regexp.MustCompile(`^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$`),
			"want the option number, COLUMN=us if its comma is that of thousands, or COLUMN=eu", false},
		{regexp.MustCompile(`^[+-]?\d+(\.\d+)?[,;] [+-]?\d+(\.\d+)?$|^[+-]?\d+\.\d+[,;][+-]?\d+\.\d+$`),
			"want a column for each number", false},
		{regexp.MustCompile(`^[+-]?\d+(_\d{3})+$|^0[xX][0-9a-fA-F]+$|^[+-]?\d*\.?\d+[dD][+-]?\d+$`),
			"want decimal digits, and e before an exponent", false},
		{regexp.MustCompile(`^[+-]?\d{1,3}(\.\d{3})+,\d+$|^[+-]?\d+,\d+$`), "want a decimal point", false},
		{regexp.MustCompile(`^\d{1,2}-\d{1,2}-\d{2}$`),
			"want years of four digits if these are dates", true},
		{regexp.MustCompile(`^([<>≤≥~≈]=?) ?[+-]?\d+([.,]\d+)?$`), "want the kind censored for limits of detection, or " +
			"numbers without signs", false},
		{regexp.MustCompile(`^\([\p{Sc}]?\d[\d.,]*\)$`),
			"want a minus sign if these are negative numbers", false},
		{regexp.MustCompile(`^[+\-\x{2212}]?\p{Sc}? ?\d[\d.,'’\x{a0}\x{2009}\x{202f}]* ?[%\p{Sc}]?$`),
			"want numbers without other marks", false},
		{regexp.MustCompile(`^[+-]?\d[\d.,]* ?[\pL°µμ]{1,4}[23²³]?(/[\pL]{1,3}[23²³]?)?$`),
			"want numbers in one unit, and no unit in the cells", false},
	}
})

// fewLevels is the number of different texts up to which a column is a category without a doubt,
// such as 3 doors and 5 doors, unless they are dates or all different.
const fewLevels = 5

// doubtNumbers returns a warning for a column of texts nearly all of whose cells look like numbers
// or dates, "" if they do not. often is how often each text occurs. Cost: that of some texts.
func doubtNumbers(levels []string, often []int) string {
	few := len(levels) <= fewLevels && (len(levels) < 3 || slices.Max(often) > 1)
	const some = 1000
	levels = levels[:min(len(levels), some)]
	cells, numbers, odd, other := 0, 0, 0, -1 // texts that only look like numbers, and that do not
	ways := lookAlikes()
	fits := make([]int, len(ways))
	example, zeros := "", false // zeros: there are numbers such as 007, which are names
	for k, text := range levels {
		cells += often[k]
		text = strings.TrimSpace(text)
		if _, err := dataset.ParseFloat(text); err == nil {
			numbers += often[k]
			zeros = zeros || len(text) > 1 && text[0] == '0' && text[1] != '.'
			continue
		}
		way := slices.IndexFunc(ways, func(l lookAlike) bool { return l.pattern.MatchString(text) })
		if way < 0 {
			if other < 0 || often[k] > often[other] {
				other = k
			}
			continue
		}
		if odd == 0 {
			example = text
		}
		odd, fits[way] = odd+often[k], fits[way]+often[k]
	}
	best := 0
	for w := range fits {
		if fits[w] > fits[best] {
			best = w
		}
	}
	switch {
	case few && (odd == 0 || !ways[best].date):
	case odd == 0 && numbers == cells && zeros:
	case odd == 0 && numbers == cells:
		return "its texts are numbers, such as " + strconv.Quote(short(levels[0])) +
			": want the kind number for it if they count or measure"
	case odd > 0 && 10*(odd+numbers) >= 9*cells:
		return "nearly all cells look like numbers or dates, such as " + strconv.Quote(short(example)) +
			", and are read as texts: " + ways[best].want
	case odd == 0 && other >= 0 && 2*numbers >= cells && 10*(numbers+often[other]) >= 9*cells:
		return "most cells are numbers, but not " + strconv.Quote(short(levels[other])) + ", which is in " +
			dataset.Count(often[other], "cell") +
			": want an empty cell for a missing number"
	case other >= 0 && 10*(odd+numbers) >= 8*cells:
		return fmt.Sprintf("%d of its cells look like numbers, and %d do not, such as %q: want it corrected, or the "+
			"kind category", odd+numbers, cells-odd-numbers, short(levels[other]))
	}
	return ""
}
