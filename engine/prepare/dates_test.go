package prepare

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// Weeks of ISO 8601 are their Mondays, and days of weeks are days, as package time counts weeks.
func TestISOWeeks(t *testing.T) {
	for day := time.Date(2019, 12, 20, 0, 0, 0, 0, time.UTC); day.Year() < 2027; day = day.AddDate(0, 0, 1) {
		year, week := day.ISOWeek()
		number := (int(day.Weekday()) + 6) % 7
		text := fmt.Sprintf("%d-W%02d-%d", year, week, number+1)
		if got, ok := parseTime(isoWeekDay, text); !ok || !got.Equal(day) {
			t.Fatalf("%s is %v: want %v", text, got, day)
		}
		if got, ok := parseTime(isoWeek, text[:8]); !ok || !got.Equal(day.AddDate(0, 0, -number)) {
			t.Fatalf("%s is %v: want the Monday before %v", text[:8], got, day)
		}
	}
	for _, text := range []string{"2021-W53", "2020-W54", "2020-W00", "2020-W1", "2020-X10", "2020-W10-8",
		"abcd-W10"} {
		for _, layout := range []string{isoWeek, isoWeekDay} {
			if got, ok := parseDate(layout, text); ok {
				t.Errorf("%s is %v", text, got)
			}
		}
	}
	if layout, _ := findLayout([]string{"2024-W05", "2024-W06", "2023-W52"}, ""); layout != isoWeek {
		t.Errorf("weeks have the format %q", layout)
	}
}

// A day has 86400 seconds, of which a text may have parts.
func TestDays(t *testing.T) {
	at := time.Date(2024, 2, 29, 12, 0, 0, 500_000_000, time.UTC)
	want := 19782.5 + 0.5/86400
	if got := days(at); math.Abs(got-want) > 1e-11 {
		t.Errorf("%v days: want %v", got, want)
	}
}

// Quantiles are interpolated between the sorted values, at q (n - 1) from the first on. Medians are
// finite where the sum or the difference of their values is not.
func TestQuantiles(t *testing.T) {
	for n := 1; n <= 9; n++ {
		values := make([]float64, n)
		for k := range values {
			values[k] = math.Pow(1.7, float64(k)) - 3
		}
		for _, q := range []float64{0, .25, .3, .5, .75, 1} {
			place := q * float64(n-1)
			low, high := values[int(math.Floor(place))], values[int(math.Ceil(place))]
			want := low*(1-(place-math.Floor(place))) + high*(place-math.Floor(place))
			got := quantile(n, q, func(k int) float64 { return values[k] })
			if math.Abs(got-want) > 1e-13*(1+math.Abs(want)) {
				t.Errorf("quantile %v of %v is %v: want %v", q, values, got, want)
			}
		}
	}
	for want, values := range map[float64][]float64{math.MaxFloat64: {math.MaxFloat64, math.MaxFloat64},
		0: {-math.MaxFloat64, math.MaxFloat64}, 0x1p-1074: {0x1p-1074, 0x1p-1074}} {
		if got := quantile(2, .5, func(k int) float64 { return values[k] }); got != want {
			t.Errorf("the median of %v is %v: want %v", values, got, want)
		}
	}
}

// Dates with years of two digits are those of 1969 to 2068, in the order that the days above 12
// show, and a doubt says so. With an order that was asked for, only the years are doubtful.
func TestShortYears(t *testing.T) {
	begin := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
	for form, c := range map[string]struct {
		asked Kind
		days  int // of the dates, from the begin on
		month bool
	}{
		"2/1/06":   {"", 60, false},
		"1/2/06":   {"", 60, false},
		"2.1.06":   {"", 60, false},
		"2-Jan-06": {"", 60, false},
		"02/01/06": {DayFirst, 10, false},
		"01/02/06": {MonthFirst, 10, false},
		"1/02/06":  {"", 10, true},
	} {
		var texts []string
		for k := range c.days {
			texts = append(texts, begin.AddDate(0, 0, k).Format(form))
		}
		layout, doubt := findLayout(texts, c.asked)
		for k, text := range texts {
			if got, ok := parseTime(layout, text); !ok || !got.Equal(begin.AddDate(0, 0, k)) {
				t.Fatalf("%s: %q is %v in the format %q", form, text, got, layout)
			}
		}
		if !strings.Contains(doubt, "two digits are taken for 1969 to 2068") ||
			strings.Contains(doubt, "day is above 12") != c.month {
			t.Errorf("%s: doubt %q", form, doubt)
		}
	}
	for year, want := range map[int]int{68: 2068, 69: 1969, 0: 2000} {
		if got, ok := parseTime("2.1.06", fmt.Sprintf("24.12.%02d", year)); !ok || got.Year() != want {
			t.Errorf("year %02d is %d: want %d", year, got.Year(), want)
		}
	}
}
