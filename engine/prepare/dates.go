package prepare

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/points"
)

// secondsOfDay is the unit of dates as numbers.
const secondsOfDay = 24 * 60 * 60

// layouts are the formats of dates and times, as package time writes them. A one-digit day or month
// stands for one or two digits, and seconds for seconds with a fraction.
var layouts = makeLayouts()

// dayLayouts are the formats of dates that may be followed by a time of day.
var dayLayouts = []string{"2006-1-2", "2006/1/2", "2.1.2006", monthFirst, dayFirst, "2 Jan 2006", "2-Jan-2006", "Jan 2, 2006", "2 January 2006", "January 2, 2006"}

func makeLayouts() []string {
	var list []string
	for _, day := range dayLayouts {
		list = append(list, day, day+" 15:04", day+" 15:04:05", day+" 3:04 PM", day+" 3:04:05 PM")
	}
	return append(list, "2006-1-2T15:04", "2006-1-2T15:04:05", time.RFC3339, "2006-1-2T15:04Z07:00", "2006-1-2 15:04:05Z07:00", "2006-1-2 15:04:05 -0700",
		"20060102", "20060102T150405Z0700", time.RFC1123Z, "2006-1", "15:04", "15:04:05")
}

// The two formats that look alike unless a day is above 12.
const (
	monthFirst = "1/2/2006"
	dayFirst   = "2/1/2006"
)

// hasDay and hasClock report which parts of a time a format has.
func hasDay(layout string) bool   { return strings.Contains(layout, "2006") && layout != "2006-1" }
func hasClock(layout string) bool { return strings.Contains(layout, "04") }

// parseDate returns the time that a text in the format stands for.
func parseDate(layout, text string) (time.Time, bool) {
	t, err := time.Parse(layout, strings.TrimSpace(text))
	if err != nil {
		return t, false
	}
	if !strings.Contains(layout, "2006") { // a time of day
		t = time.Unix(0, 0).UTC().Add(time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond()))
	}
	return t, true
}

// parseTime is parseDate, but a text may lack the time of day, or have one, where the format is the
// other way: it is the same column, of which this part happens to be at midnight.
func parseTime(layout, text string) (time.Time, bool) {
	if t, ok := parseDate(layout, text); ok {
		return t, true
	}
	for _, day := range dayLayouts {
		if layout == day || strings.HasPrefix(layout, day+" ") || strings.HasPrefix(layout, day+"T") {
			for _, clock := range []string{"", " 15:04", " 15:04:05", "T15:04", "T15:04:05"} {
				if t, ok := parseDate(day+clock, text); ok {
					return t, true
				}
			}
			break
		}
	}
	return time.Time{}, false
}

// days returns the days since 1970-01-01T00:00:00Z.
func days(t time.Time) float64 {
	return (float64(t.Unix()) + float64(t.Nanosecond())/1e9) / secondsOfDay
}

// cycles are the angles of a time, as a share of a full turn: the weekday from Monday on, the day
// of the year, and the hour, in the time zone of the text.
func cycles(t time.Time) [3]float64 {
	year := time.Date(t.Year(), 12, 31, 0, 0, 0, 0, time.UTC).YearDay()
	clock := float64(t.Hour()*3600+t.Minute()*60+t.Second()) / secondsOfDay
	return [3]float64{float64((t.Weekday()+6)%7) / 7, float64(t.YearDay()-1) / float64(year), clock}
}

// cycleNames are the names of the cycles.
var cycleNames = [3]string{"weekday", "day of year", "hour"}

// cyclesOf returns which cycles a format has.
func cyclesOf(layout string) []int {
	var list []int
	if hasDay(layout) {
		list = append(list, 0, 1)
	}
	if hasClock(layout) {
		list = append(list, 2)
	}
	return list
}

// findLayout returns the format of texts, and a doubt about it. texts are those that occur. The
// format is "" if fewer than half of a sample are dates, and has texts that it does not fit if
// several formats occur. asked is "", or the kind of dates that is asked for.
func findLayout(texts []string, asked Kind) (layout, doubt string) {
	other := map[Kind]string{DayFirst: monthFirst, MonthFirst: dayFirst}[asked]
	sample := texts[:min(len(texts), 200)]
	fits := make([]int, len(layouts))
	dates := 0
	for _, text := range sample {
		any := false
		for k, l := range layouts {
			if l == "20060102" && asked == "" || !plausible(text) || other != "" && strings.HasPrefix(l, other) {
				continue
			}
			if _, ok := parseDate(l, text); ok {
				fits[k]++
				any = true
			}
		}
		if any {
			dates++
		}
	}
	if 2*dates < len(sample) || dates == 0 {
		return "", ""
	}
	var candidates []string
	most := 0
	for k, f := range fits {
		if f > most {
			most, candidates = f, nil
		}
		if f == most {
			candidates = append(candidates, layouts[k])
		}
	}
	best, bestFits := []string{}, -1
	for _, l := range candidates {
		f := 0
		if len(candidates) > 1 {
			for _, text := range texts {
				if _, ok := parseDate(l, text); ok {
					f++
				}
			}
		}
		if f > bestFits {
			best, bestFits = nil, f
		}
		if f == bestFits {
			best = append(best, l)
		}
	}
	if len(best) > 1 && strings.HasPrefix(best[0], monthFirst) {
		doubt = "no day is above 12: the dates are read with the month first; want the kind day-first if they have the day first"
	}
	return best[0], doubt
}

// plausible reports whether a text may be a date, before formats are tried.
func plausible(text string) bool {
	return len(text) >= 4 && len(text) <= 64 && strings.ContainsAny(text, "0123456789")
}

// example returns a date in a format.
func example(layout string) string {
	return time.Date(2024, 12, 31, 14, 30, 0, 0, time.UTC).Format(layout)
}

// maxTerms is the limit on the terms of a column of text, and countedTerms on those that are
// counted at a time: beyond, those that occurred once so far are forgotten.
const (
	maxTerms     = 1000
	countedTerms = 1 << 20
)

// terms makes a column of each frequent term of texts: its tf-idf, in rows of unit length.
type terms struct {
	letters int // of a term, 0 for words
	list    []string
	weight  []float64
	place   map[string]int // of list
}

// split calls f with the terms of a text, in lower case: words are two or more letters, digits or
// low lines.
func (t *terms) split(text string, f func(term string)) {
	text = strings.ToLower(text)
	if t.letters > 0 {
		t.slide(strings.Join(strings.Fields(text), " "), f)
		return
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	}) {
		if len([]rune(word)) > 1 {
			f(word)
		}
	}
}

// slide calls f with all letters in a row.
func (t *terms) slide(text string, f func(term string)) {
	var starts []int
	for i := range text {
		starts = append(starts, i)
	}
	starts = append(starts, len(text))
	for i := 0; i+t.letters < len(starts); i++ {
		f(text[starts[i]:starts[i+t.letters]])
	}
}

// newTerms chooses the terms that the most rows have: those of at least two rows, or all if there
// are none.
func newTerms(x *points.Column, letters int) *terms {
	t := &terms{letters: letters}
	rows := make(map[string]int)
	seen := make(map[string]bool)
	for _, code := range x.Codes {
		if code < 0 {
			continue
		}
		clear(seen)
		t.split(x.Levels[code], func(term string) {
			if !seen[term] {
				seen[term] = true
				rows[strings.Clone(term)]++
			}
		})
		if len(rows) > countedTerms {
			maps.DeleteFunc(rows, func(_ string, n int) bool { return n == 1 })
		}
	}
	list := slices.Collect(maps.Keys(rows))
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(rows[b], rows[a]), cmp.Compare(a, b)) })
	list = list[:min(len(list), maxTerms)]
	if k := slices.IndexFunc(list, func(term string) bool { return rows[term] == 1 }); k > 0 {
		list = list[:k]
	}
	slices.Sort(list)
	t.list = list
	for _, term := range list {
		t.weight = append(t.weight, dataset.TermWeight(len(x.Codes), rows[term]))
	}
	t.number()
	return t
}

// number sets the places of terms.
func (t *terms) number() {
	t.place = make(map[string]int, len(t.list))
	for k, term := range t.list {
		t.place[term] = k
	}
}

// bind returns what writes the rows of a column.
func (t *terms) bind(x *points.Column) writer {
	x = texts(x)
	return func(out []float64, stride, lo, hi int) {
		for i, code := range x.Codes[lo:hi] {
			if code >= 0 {
				t.write(out[i*stride:i*stride+len(t.list)], x.Levels[code])
			}
		}
	}
}

// write writes the tf-idf of a text to a row of zeros.
func (t *terms) write(row []float64, text string) {
	t.split(text, func(term string) {
		if k, ok := t.place[term]; ok {
			row[k] += t.weight[k]
		}
	})
	sum := 0.0
	for _, v := range row {
		sum += v * v
	}
	if sum == 0 {
		return
	}
	length := math.Sqrt(sum)
	for k := range row {
		row[k] /= length
	}
}
