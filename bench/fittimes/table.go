package fittimes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/internal/view"
)

// Seconds returns a time as text, in s, ms or µs.
func Seconds(s float64) string {
	switch {
	case s < 1e-3:
		return fmt.Sprintf("%.3g µs", s*1e6)
	case s < 1:
		return fmt.Sprintf("%.3g ms", s*1e3)
	}
	return fmt.Sprintf("%.3g s", s)
}

// GrowthTable returns the rows as Markdown.
func GrowthTable(rows []Row) string {
	var b strings.Builder
	b.WriteString("| method | a fit of | takes | n | d | links |\n| --- | --- | ---: | ---: | ---: | ---: |\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s |", r.Method, r.Largest.Size(), Seconds(r.Seconds))
		for _, g := range r.Growth {
			fmt.Fprintf(&b, " %v |", g)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// RatioTable returns the ratios as Markdown, with two columns for each build. Ratios that miss
// their aim are marked.
func RatioTable(measurements []Measurement) string {
	if len(measurements) == 0 {
		return ""
	}
	var b strings.Builder
	builds := measurements[0].Entries
	fmt.Fprintf(&b, "| method | n | %s |", builds[0].Name)
	for _, e := range builds[1:] {
		fmt.Fprintf(&b, " %s / %s | at least |", e.Name, builds[0].Name)
	}
	b.WriteString("\n| --- | ---: | ---: |" + strings.Repeat(" ---: | ---: |", len(builds)-1) + "\n")
	for _, f := range measurements {
		fmt.Fprintf(&b, "| %s | %d | %s |", f.Case.Method, f.Case.Points,
			Seconds(f.Entries[0].Seconds.Median))
		for _, r := range Ratios([]Measurement{f}) {
			fmt.Fprintf(&b, " %.2f (%.2f to %.2f) | %s |", r.Ratio.Median, r.Ratio.Min, r.Ratio.Max, r.aim())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// aim returns the aim of a ratio as text.
func (r Ratio) aim() string {
	switch {
	case r.Want == 0:
		return "-"
	case !r.Met():
		return fmt.Sprintf("**%.2f missed**", r.Want)
	}
	return fmt.Sprintf("%.2f", r.Want)
}

// Panels draws the times against points, features and links: for the methods, for the baselines,
// and for methods for few points.
func Panels(methods []string, s Sizes, measurements []Measurement) ([]view.Panel, error) {
	found := map[Case]Measurement{}
	for _, f := range measurements {
		found[f.Case] = f
	}
	var groups [3][3]view.Lines
	for _, name := range methods {
		own, err := s.of(name)
		if err != nil {
			return nil, err
		}
		for k, sweep := range own.sweeps(name) {
			panel := &groups[group(name)][k]
			panel.Series = append(panel.Series, series(name, k, sweep, found))
		}
	}
	var panels []view.Panel
	for _, row := range groups {
		if len(row[0].Series) == 0 {
			continue
		}
		for k, axis := range [3]string{"points", "features", "links"} {
			row[k].Title, row[k].XLabel, row[k].YLabel, row[k].LogX, row[k].LogY = "a fit, by "+axis, axis,
				"seconds", true, true
			panels = append(panels, row[k])
		}
	}
	return panels, nil
}

// group returns 0 for the methods, 1 for baselines and 2 for methods for few points.
func group(name string) int {
	word, _, _ := strings.Cut(name, " ")
	switch m, _ := catalog.Lookup(word); { // it is in a plan
	case m.Small:
		return 2
	case m.Baseline:
		return 1
	}
	return 0
}

// series returns the line of one method, with bars from the shortest to the longest round.
func series(name string, k int, sweep []Case, found map[Case]Measurement) view.Series {
	const minimum = 1e-9 // the start of a logarithmic axis
	s := view.Series{Name: name, Markers: true, Bars: true}
	for _, c := range sweep {
		f, ok := found[c]
		if !ok {
			continue
		}
		t := f.Entries[0].Seconds
		s.X = append(s.X, float64(*c.size(k)))
		s.Y, s.Low, s.High = append(s.Y, cmp.Or(t.Median, minimum)), append(s.Low, cmp.Or(t.Min, minimum)),
			append(s.High, cmp.Or(t.Max, minimum))
	}
	return s
}

// RatioPanels draws the ratio of every other build against the time of the first build, with a
// series for each number of points.
func RatioPanels(measurements []Measurement) []view.Panel {
	ratios := Ratios(measurements)
	slices.SortStableFunc(ratios, func(a, b Ratio) int { return cmp.Compare(a.Seconds, b.Seconds) })
	var panels []view.Panel
	for _, e := range measurements[0].Entries[1:] {
		series := map[int]*view.Series{}
		for _, r := range ratios {
			if r.Build != e.Name {
				continue
			}
			s := series[r.Case.Points]
			if s == nil {
				s = &view.Series{Name: fmt.Sprintf("n=%d", r.Case.Points), Apart: true, Bars: true}
				series[r.Case.Points] = s
			}
			s.X, s.Y = append(s.X, r.Seconds), append(s.Y, r.Ratio.Median)
			s.Low, s.High = append(s.Low, r.Ratio.Min), append(s.High, r.Ratio.Max)
		}
		first := measurements[0].Entries[0].Name
		panel := view.Lines{Title: e.Name + " / " + first, XLabel: first + ", seconds",
			YLabel: "times as long", LogX: true, LogY: true}
		for _, n := range slices.Sorted(maps.Keys(series)) {
			panel.Series = append(panel.Series, *series[n])
		}
		panels = append(panels, panel)
	}
	return panels
}
