package prepare

import (
	"fmt"
	"math"
	"strconv"
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
