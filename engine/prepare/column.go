package prepare

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Column says what was found in a column of a table, and what is done with it.
type Column struct {
	Name     string // its number if the columns have no names
	Kind     Kind
	Missing  int // cells
	Distinct int // values or texts
	// Low and High are the smallest and the largest value of numbers, and of dates in days since
	// 1970-01-01.
	Low, High float64
	Example   string // the first cell that is not missing
	Outputs   int    // columns of the result
	Does      string // what is done, such as "3 missing: median 41000; standardized"
	Warning   string // what is odd about it, "" for nothing
}

// Remarks returns the warnings of columns with their names. Of four or more columns with the same
// warning, or that are constant, there is one remark with the first three names.
func Remarks(columns []Column) (remarks []string) {
	same := map[string][]int{}
	for j := range columns {
		if what := columns[j].oddity(); what != "" {
			same[what] = append(same[what], j)
		}
	}
	const alone = 3
	for j := range columns {
		c := &columns[j]
		switch all := same[c.oddity()]; {
		case len(all) == 0:
		case len(all) <= alone:
			remarks = append(remarks, fmt.Sprintf("column %q: %s", c.Name, c.Warning))
		case all[0] == j:
			a, b := &columns[all[1]], &columns[all[2]]
			remarks = append(remarks, fmt.Sprintf("columns %q, %q, %q and %d more: %s", c.Name, a.Name, b.Name, len(all)-alone, c.oddity()))
		}
	}
	return remarks
}

// oddity returns the warning, without the value of a constant column.
func (c *Column) oddity() string {
	if c.Kind == Constant && strings.HasPrefix(c.Warning, "constant, ") {
		return "constant, and left out"
	}
	return c.Warning
}

// Range returns the smallest and the largest value as text, "" for columns without.
func (c *Column) Range() string {
	switch {
	case c.Distinct == 0:
		return ""
	case c.Kind == Date:
		return dayText(c.Low) + " to " + dayText(c.High)
	case c.Low == 0 && c.High == 0 && c.Kind != Number:
		return ""
	}
	return numberText(c.Low) + " to " + numberText(c.High)
}

// numberText writes a number with at most six digits, whole numbers with all of theirs.
func numberText(v float64) string {
	if v == float64(int64(v)) && v < 1e15 && v > -1e15 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// dayText writes days since 1970 as a date, with the time if there is one.
func dayText(days float64) string {
	whole := int64(math.Floor(days))
	t := time.Unix(whole*secondsOfDay, 0).UTC()
	seconds := int64((days-float64(whole))*secondsOfDay + 0.5)
	if seconds == 0 {
		return t.Format(time.DateOnly)
	}
	return t.Add(time.Duration(seconds) * time.Second).Format(time.DateTime)
}

// count writes a number of things: "1 row", "2 rows".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
