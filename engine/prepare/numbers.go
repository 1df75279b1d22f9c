package prepare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/points"
)

// quartileRange is the distance between the quartiles of a normal distribution with standard
// deviation 1.
const quartileRange = 1.3489795003921634

// numbers are the statistics of a column of numbers.
type numbers struct {
	missing, distinct int
	low, high         float64
	whole             bool   // all are whole numbers
	rising            bool   // each row has the number of the row before plus 1, or minus 1
	doubt             string // what the numbers may mean instead
	fill              float64
	mean, scale       float64 // after filling
	median, robust    float64 // after filling
}

// scratch is the memory of one worker, n values each.
type scratch struct{ a, b []float64 }

func newScratch(n int) *scratch { return &scratch{make([]float64, n), make([]float64, n)} }

// statistics returns those of values, in which NaN is a gap. fill returns what fills gaps, by the
// sorted values.
func statistics(values []float64, work *scratch, fill func(sorted []float64) float64) (numbers, error) {
	s := numbers{whole: true, rising: true}
	present := work.a[:0]
	for _, v := range values {
		if v == v {
			present = append(present, v+0) // no -0
			s.whole = s.whole && v == math.Trunc(v) && math.Abs(v) < 1<<53
		}
	}
	s.missing = len(values) - len(present)
	s.rising = s.whole && s.missing == 0 && countsUp(values)
	present = sortFloats(present, work.b)
	for k, v := range present {
		if k == 0 || v != present[k-1] {
			s.distinct++
		}
	}
	if len(present) > 0 {
		s.low, s.high = present[0], present[len(present)-1]
		s.doubt = s.doubtful(present, len(values))
	}
	s.fill = fill(present)
	below, _ := slices.BinarySearch(present, s.fill)
	at := func(k int) float64 { // the sorted values after filling
		switch {
		case k < below:
			return present[k]
		case k < below+s.missing:
			return s.fill
		}
		return present[k-s.missing]
	}
	s.median = quantile(len(values), 0.5, at)
	s.robust = (quantile(len(values), 0.75, at) - quantile(len(values), 0.25, at)) / quartileRange

	filled := values
	if s.missing > 0 {
		filled = work.a[:len(values)]
		for i, v := range values {
			if v != v {
				v = s.fill
			}
			filled[i] = v
		}
	}
	scaling, _, err := Standardize(&points.Dense{N: len(filled), D: 1, Data: filled})
	if err != nil {
		return s, err
	}
	s.mean, s.scale = scaling.Mean[0], scaling.Scale[0]
	if !(s.robust > 0) || math.IsInf(s.robust, 0) {
		s.robust = s.scale
	}
	return s, nil
}

// doubtful returns a warning for whole numbers that may be dates such as 20240131, and for one far
// from all others that may mean a missing cell, such as -999; "" for none. sorted are the numbers
// of the rows, without gaps.
func (s *numbers) doubtful(sorted []float64, rows int) string {
	noDate := func(v float64) bool {
		month, day := int(v)/100%100, int(v)%100
		return month < 1 || month > 12 || day < 1 || day > 31
	}
	if s.whole && s.low >= 1900_01_01 && s.high <= 2100_12_31 && s.distinct > 2 &&
		!slices.ContainsFunc(sorted, noDate) {
		return "they look like dates such as " + numberText(s.low) + ": want the kind date if they are"
	}
	if s.distinct <= 3 {
		return ""
	}
	lowest, _ := slices.BinarySearch(sorted, math.Nextafter(s.low, math.Inf(1))) // how often low occurs
	last, _ := slices.BinarySearch(sorted, s.high)
	second, beforeLast := sorted[lowest], sorted[last-1]
	span := max(beforeLast-second, 1)
	for _, end := range []struct {
		value, next float64
		times       int
	}{{s.low, second, lowest}, {s.high, beforeLast, len(sorted) - last}} {
		if slices.Contains(sentinels, math.Abs(end.value)) && 2 <= end.times && 2*end.times < rows &&
			math.Abs(end.value-end.next) > 2*span {
			return "its " + fault.Count(end.times, "cell") + " of " + numberText(end.value) +
				" are far from all others: want them empty if they mean that there is no number"
		}
	}
	return ""
}

// sentinels are numbers that programs write where there is none.
var sentinels = []float64{99, 999, 9999, 99999, 999999}

// countsUp reports whether values are consecutive, row by row.
func countsUp(values []float64) bool {
	if len(values) < 2 {
		return false
	}
	step := values[1] - values[0]
	if step != 1 && step != -1 {
		return false
	}
	for i := 1; i < len(values); i++ {
		if values[i]-values[i-1] != step {
			return false
		}
	}
	return true
}

// source makes numbers of the cells of a column: of numbers, limits, dates, or booleans.
type source struct {
	kind   Kind
	layout string
	pair   [2]string
}

// read returns the number of every row, NaN for a gap. The cells of columns of numbers are shared.
// A cell that is no number, or no date of the format, is a *fault.DataError with its row.
func (s source) read(x *points.Column) ([]float64, error) {
	if !x.IsText() && s.kind == Number {
		return x.Numbers, nil
	}
	x = texts(x)
	values := make([]float64, len(x.Levels))
	done := make([]bool, len(x.Levels))
	out := make([]float64, len(x.Codes))
	for i, code := range x.Codes {
		if code < 0 {
			out[i] = math.NaN()
			continue
		}
		if !done[code] {
			v, err := s.value(x.Levels[code])
			if err != nil {
				return nil, &fault.DataError{Row: i, Column: x.Name, Err: err}
			}
			values[code], done[code] = v, true
		}
		out[i] = values[code]
	}
	return out, nil
}

// value returns the number of a text. A boolean that is none of the two is NaN, as if it were
// missing.
func (s source) value(text string) (float64, error) {
	switch s.kind {
	case Date:
		t, ok := parseTime(s.layout, text)
		if !ok {
			return 0, fmt.Errorf(
				"%q is not a date like %s, as other cells of the column are: want one format in all cells, "+
					"or the column as a category or dropped", short(text), example(s.layout))
		}
		return days(t), nil
	case Boolean:
		switch plain(text) {
		case s.pair[0]:
			return 0, nil
		case s.pair[1]:
			return 1, nil
		}
		return math.NaN(), nil
	case Censored:
		text, _ = cutLimit(text)
	}
	v, err := dataset.ParseFloat(strings.TrimSpace(text))
	if err == dataset.ErrRounded {
		return 0, fmt.Errorf("the value is %s: %w, or the column as a category", short(text), err)
	}
	if err != nil || math.IsInf(v, 0) {
		return 0, fmt.Errorf(
			"%q is not a finite number: want numbers in all cells, an empty cell for a missing one, or the "+
				"column as a category", short(text))
	}
	return v, nil
}

// short returns the beginning of a text, for messages.
func short(text string) string {
	const limit = 60
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit]) + "..."
	}
	return text
}

// texts returns a column as texts.
func texts(x *points.Column) *points.Column {
	if x.IsText() {
		return x
	}
	out := &points.Column{Name: x.Name, Codes: make([]int32, len(x.Numbers)), Levels: []string{}}
	codes := make(map[float64]int32)
	for i, v := range x.Numbers {
		if v != v {
			out.Codes[i] = -1
			continue
		}
		code, known := codes[v]
		if !known {
			code = int32(len(out.Levels))
			codes[v] = code
			out.Levels = append(out.Levels, strconv.FormatFloat(v+0, 'f', -1, 64))
		}
		out.Codes[i] = code
	}
	return out
}

// number fills and scales a column of numbers, dates or booleans.
type number struct {
	source            source
	fill, mean, scale float64 // the result is 0 where scale is 0
	sides             bool    // there is a second column, in which above fills gaps
	above             float64
}

// size returns the number of columns that it writes.
func (p *number) size() int {
	if p.sides {
		return 2
	}
	return 1
}

// bind returns what writes the rows of a column.
func (p *number) bind(x *points.Column) (writer, error) {
	values, err := p.source.read(x)
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		if v == v && p.scale != 0 {
			if y := (v - p.mean) / p.scale; y-y != 0 {
				return nil, fault.Cell(i, x.Name,
					"the value is too large to scale: want one like those of the training rows")
			}
		}
	}
	return func(out []float64, stride, lo, hi int) {
		if p.scale == 0 {
			return
		}
		for i, v := range values[lo:hi] {
			missing := v != v
			if missing {
				v = p.fill
			}
			out[i*stride] = (v - p.mean) / p.scale
			if missing {
				v = p.above
			}
			if p.sides {
				out[i*stride+1] = (v - p.mean) / p.scale
			}
		}
	}, nil
}

// gaps writes 1 where a column has a gap.
func gaps(x *points.Column) writer {
	return func(out []float64, stride, lo, hi int) {
		for i := lo; i < hi; i++ {
			if x.IsText() && x.Codes[i] < 0 || !x.IsText() && x.Numbers[i] != x.Numbers[i] {
				out[(i-lo)*stride] = 1
			}
		}
	}
}

// cutLimit returns a text without the sign of a limit before its number, as in <0.05, and whether
// there was one.
func cutLimit(text string) (number string, limit bool) {
	text = strings.TrimSpace(text)
	number = strings.TrimLeft(text, "<>≤≥=")
	return strings.TrimSpace(number), number != text
}

// limits writes 1 where a number is only a limit.
func limits(x *points.Column) writer {
	x = texts(x)
	limit := make([]bool, len(x.Levels))
	for k, text := range x.Levels {
		_, limit[k] = cutLimit(text)
	}
	return func(out []float64, stride, lo, hi int) {
		for i, code := range x.Codes[lo:hi] {
			if code >= 0 && limit[code] {
				out[i*stride] = 1
			}
		}
	}
}

// circles writes the cosines and the sines of the cycles of dates, and zeros for a gap.
func circles(x *points.Column, layout string) writer {
	x = texts(x)
	list := cyclesOf(layout)
	return func(out []float64, stride, lo, hi int) {
		for i, code := range x.Codes[lo:hi] {
			if code < 0 {
				continue
			}
			t, _ := parseTime(layout, x.Levels[code])
			turn := cycles(t)
			for k, c := range list {
				sin, cos := math.Sincos(2 * math.Pi * turn[c])
				out[i*stride+2*k], out[i*stride+2*k+1] = cos, sin
			}
		}
	}
}

// firstMissing returns the row of the first gap, -1 if there is none.
func firstMissing(x *points.Column) int {
	if x.IsText() {
		return slices.IndexFunc(x.Codes, func(code int32) bool { return code < 0 })
	}
	return slices.IndexFunc(x.Numbers, math.IsNaN)
}

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
			remarks = append(remarks,
				fmt.Sprintf("columns %q, %q, %q and %d more: %s", c.Name, a.Name, b.Name, len(all)-alone,
					c.oddity()))
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

// numberText writes a number with at most six digits, whole numbers below 1e15 with all of theirs.
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
