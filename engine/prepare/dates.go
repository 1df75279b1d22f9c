package prepare

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mustlink/mustlink/engine/fault"
)

// secondsOfDay is the unit of dates as numbers.
const secondsOfDay = 24 * 60 * 60

// layouts are the formats of dates and times, as package time writes them. A one-digit day or month
// stands for one or two digits, and seconds for seconds with a fraction.
var layouts = makeLayouts()

// dayLayouts are the formats of dates that may be followed by a time of day.
var dayLayouts = []string{"2006-1-2", "2006/1/2", "2.1.2006", monthFirst + "2006", dayFirst + "2006",
	"2 Jan 2006", "2-Jan-2006", "Jan 2, 2006", "2 January 2006", "January 2, 2006", monthFirst + "06",
	dayFirst + "06", "2.1.06", "2-Jan-06"}

func makeLayouts() []string {
	var list []string
	for _, day := range dayLayouts {
		list = append(list, day, day+" 15:04", day+" 15:04:05", day+" 3:04 PM", day+" 3:04:05 PM")
	}
	return append(list, "2006-1-2T15:04", "2006-1-2T15:04:05", time.RFC3339, "2006-1-2T15:04Z07:00",
		"2006-1-2 15:04:05Z07:00", "2006-1-2 15:04:05 -0700",
		"20060102", "20060102T150405Z0700", time.RFC1123Z, "2006-1", "15:04", "15:04:05", isoWeek, isoWeekDay)
}

// The formats of weeks, which package time does not have: 2024-W05 is its Monday.
const (
	isoWeek    = "2006-W05"
	isoWeekDay = "2006-W05-1"
)

// parseWeek returns the day that a week of ISO 8601, or a day of it, stands for.
func parseWeek(layout, text string) (t time.Time, ok bool) {
	if len(text) != len(layout) || text[4:6] != "-W" {
		return t, false
	}
	year, err := strconv.Atoi(text[:4])
	week, bad := strconv.Atoi(text[6:8])
	day := 1
	if layout == isoWeekDay {
		day = int(text[9]) - '0'
	}
	if err != nil || bad != nil || day < 1 || day > 7 || layout == isoWeekDay && text[8] != '-' {
		return t, false
	}
	fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC) // always in the first week
	monday := fourth.AddDate(0, 0, 7*(week-1)-int(fourth.Weekday()+6)%7)
	y, w := monday.ISOWeek()
	return monday.AddDate(0, 0, day-1), y == year && w == week
}

// The begins of formats that look alike unless a day is above 12.
const (
	monthFirst = "1/2/"
	dayFirst   = "2/1/"
)

// hasDay and hasClock report which parts of a time a format has.
func hasDay(layout string) bool   { return strings.Contains(layout, "06") && layout != "2006-1" }
func hasClock(layout string) bool { return strings.Contains(layout, "04") }

// parseDate returns the time that a text in the format stands for.
func parseDate(layout, text string) (time.Time, bool) {
	if layout == isoWeek || layout == isoWeekDay {
		return parseWeek(layout, strings.TrimSpace(text))
	}
	t, err := time.Parse(layout, strings.TrimSpace(text))
	if err != nil {
		return t, false
	}
	if !strings.Contains(layout, "06") { // a time of day
		t = time.Unix(0, 0).UTC().Add(time.Duration(t.Hour())*time.Hour +
			time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second +
			time.Duration(t.Nanosecond()))
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
			if l == "20060102" && asked == "" || !plausible(text) || other != "" &&
				strings.HasPrefix(l, other) {
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
	best := highest(layouts, func(k int) int { return fits[k] })
	if len(best) > 1 {
		candidates := best
		best = highest(candidates, func(k int) (n int) {
			for _, text := range texts {
				if _, ok := parseDate(candidates[k], text); ok {
					n++
				}
			}
			return n
		})
	}
	if len(best) > 1 && strings.HasPrefix(best[0], monthFirst) {
		doubt = "no day is above 12: the dates are read with the month first; want the kind day-first if " +
			"they have the day first"
	}
	if !strings.Contains(best[0], "2006") && hasDay(best[0]) {
		doubt = strings.TrimPrefix(doubt+"; years of two digits are taken for 1969 to 2068", "; ")
	}
	return best[0], doubt
}

// highest returns the formats with the highest score.
func highest(layouts []string, score func(k int) int) (best []string) {
	most := -1
	for k, layout := range layouts {
		s := score(k)
		if s > most {
			most, best = s, nil
		}
		if s == most {
			best = append(best, layout)
		}
	}
	return best
}

// plausible reports whether a text may be a date, before formats are tried.
func plausible(text string) bool {
	return len(text) >= 4 && len(text) <= 64 && strings.ContainsAny(text, "0123456789")
}

// example returns a date in a format.
func example(layout string) string {
	switch layout {
	case isoWeek:
		return "2024-W05"
	case isoWeekDay:
		return "2024-W05-3"
	}
	return time.Date(2024, 12, 31, 14, 30, 0, 0, time.UTC).Format(layout)
}

// Positions returns the numbers in a column of texts, or, if most of them are dates or times, their
// seconds since 1970, and which it is. Empty texts are NaN. A text that is neither is a
// *fault.DataError with its row.
func Positions(texts []string) (values []float64, times bool, err error) {
	filled := slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return text == "" })
	layout, _ := findLayout(filled, "")
	values = make([]float64, len(texts))
	for i, text := range texts {
		if text == "" {
			values[i] = math.NaN()
			continue
		}
		if layout == "" {
			values[i], err = strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil || math.IsInf(values[i], 0) || math.IsNaN(values[i]) {
				return nil, false, fault.Row(i, "%q: want a finite number, a date or a time", text)
			}
			continue
		}
		t, ok := parseTime(layout, text)
		if !ok {
			return nil, true, fault.Row(i, "%q: want a date or time as in %s", text, example(layout))
		}
		values[i] = float64(t.Unix()) + float64(t.Nanosecond())/1e9
	}
	return values, layout != "", nil
}
