package paper

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mustlink/mustlink/bench/panels"

	"github.com/mustlink/mustlink/internal/view"
)

// Markdown returns the result as a page: the table with our values and those of the paper, the
// set-up, and the build.
func (r *Result) Markdown() string {
	var b strings.Builder
	t := r.Table
	fmt.Fprintf(&b, "# %s: %s\n\n", escape(t.Name), escape(t.Caption))
	fmt.Fprintf(&b, "%s of %s\n\n", escape(t.Label), escape(t.Paper))
	r.figures(&b)
	r.summary(&b)
	notes(&b, "Comparisons", r.Notes)
	e, _ := r.Entry() // an error would leave out the orders, which this page does not show
	otherNumbers(&b, "Other printed numbers", r.outside(e.Comparisons))
	claims(&b, e.Claims)
	notes(&b, "Set-up", t.Setup)
	notes(&b, "Differences from the paper", t.Differences)
	notes(&b, "Where our numbers differ, and what was tried", t.Tried)
	r.provenance(&b)
	return b.String()
}

// figures writes one line for every column and row of the paper's table. If there is only one
// column, its name is in the head of the table instead. Without printed values, there is one line
// for every column, with the systems side by side.
func (r *Result) figures(b *strings.Builder) {
	t := r.Table
	if !t.printed() {
		r.sideBySide(b)
		return
	}
	single := len(t.Columns) == 1
	ours := "ours"
	if single {
		ours = t.Columns[0] + ", ours"
	} else {
		b.WriteString("| column ")
	}
	fmt.Fprintf(b, "| system | %s | paper | difference | in s.d. | verdict |\n", escape(ours))
	if !single {
		b.WriteString("| --- ")
	}
	b.WriteString("| --- | ---: | ---: | ---: | ---: | --- |\n")
	for j, column := range t.Columns {
		for i, row := range t.Rows {
			if !single {
				fmt.Fprintf(b, "| %s ", escape(column))
			}
			v, printed := r.Ours[i][j], row.Printed[j]
			inUnits, verdict := "-", "-"
			if c, ok := r.comparison(i, j); ok {
				inUnits, verdict = units(c.Units), string(c.Verdict)
			}
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", escape(row.Name),
				r.value(v), r.value(printed), r.signed(v.Mean-printed.Mean), inUnits, verdict)
		}
	}
	b.WriteByte('\n')
}

// outside returns the comparisons with numbers outside the rows and columns of the table.
func (r *Result) outside(all []Comparison) []Comparison {
	inside := 0
	for i, row := range r.Table.Rows {
		for j := range row.Printed {
			if _, ok := r.comparison(i, j); ok {
				inside++
			}
		}
	}
	return all[inside:]
}

// otherNumbers writes comparisons, if there are any.
func otherNumbers(b *strings.Builder, title string, list []Comparison) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "## %s\n\n| number | ours | paper | in s.d. | verdict |\n| --- | ---: | ---: | ---: | "+
		"--- |\n", title)
	for _, c := range list {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", escape(c.What), plain(c.Ours), plain(c.Printed),
			units(c.Units), c.Verdict)
	}
	b.WriteByte('\n')
}

// claims writes what the text of the paper says, if there is anything.
func claims(b *strings.Builder, list []Claim) {
	if len(list) == 0 {
		return
	}
	b.WriteString("## What the paper says\n\n| claim | here | numbers |\n| --- | --- | --- |\n")
	for _, c := range list {
		fmt.Fprintf(b, "| %s | %s | %s |\n", escape(c.Text), c.Verdict, escape(c.Detail))
	}
	b.WriteByte('\n')
}

// sideBySide writes our values, with one column for each system.
func (r *Result) sideBySide(b *strings.Builder) {
	b.WriteString("| column |")
	for _, row := range r.Table.Rows {
		fmt.Fprintf(b, " %s |", escape(row.Name))
	}
	b.WriteString("\n| --- |" + strings.Repeat(" ---: |", len(r.Table.Rows)) + "\n")
	for j, column := range r.Table.Columns {
		fmt.Fprintf(b, "| %s |", escape(column))
		for i := range r.Table.Rows {
			fmt.Fprintf(b, " %s |", r.cell(i, j))
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}

// cell returns one of our values: mean and standard deviation, or median and quartiles.
func (r *Result) cell(i, j int) string {
	if !r.Table.Quartiles || r.Table.absent(j) {
		return r.value(r.Ours[i][j])
	}
	q := r.Quartiles(i, j)
	d := r.Table.Decimals
	return fmt.Sprintf("%.*f [%.*f, %.*f]", d, q[1], d, q[0], d, q[2])
}

// Quartiles returns the lower quartile, the median and the upper quartile of a row and column over
// the trials, interpolated linearly between the nearest values.
func (r *Result) Quartiles(i, j int) [3]float64 {
	values := r.column(i, j)
	slices.Sort(values)
	var out [3]float64
	for k := range out {
		at := float64(k+1) / 4 * float64(len(values)-1)
		low := int(at)
		high := min(low+1, len(values)-1)
		out[k] = values[low] + (at-float64(low))*(values[high]-values[low])
	}
	return out
}

// column returns the values of a row and column of all trials.
func (r *Result) column(i, j int) []float64 {
	var values []float64
	for _, trial := range r.Trials {
		values = append(values, trial[i][j])
	}
	return values
}

// Panels returns the picture of the table: its own, or a box plot for every column.
func (r *Result) Panels() []view.Panel {
	if r.Table.Draw != nil {
		return r.Table.Draw(r)
	}
	var drawn []view.Panel
	for j, column := range r.Table.Columns {
		if r.Table.absent(j) {
			continue
		}
		b := panels.Boxes{Title: column}
		for i, row := range r.Table.Rows {
			b.Names, b.Values = append(b.Names, row.Name), append(b.Values, r.column(i, j))
		}
		drawn = append(drawn, view.Drawing(b.Draw))
	}
	return drawn
}

// printed reports whether any value that the paper prints is known.
func (t Table) printed() bool {
	for _, row := range t.Rows {
		for _, v := range row.Printed {
			if !math.IsNaN(v.Mean) {
				return true
			}
		}
	}
	return false
}

// value returns mean ± s.d. with the decimals of the table, and a dash for a missing value.
func (r *Result) value(v Value) string {
	if math.IsNaN(v.Mean) {
		return "-"
	}
	s := strconv.FormatFloat(v.Mean, 'f', r.Table.Decimals, 64)
	if !math.IsNaN(v.SD) {
		s += " ± " + strconv.FormatFloat(v.SD, 'f', r.Table.Decimals, 64)
	}
	return s
}

func (r *Result) signed(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf("%+.*f", r.Table.Decimals, v)
}

// signedValue returns value with the sign of the mean.
func (r *Result) signedValue(v Value) string {
	if v.Mean > 0 {
		return "+" + r.value(v)
	}
	return r.value(v)
}

// summary writes what our values are.
func (r *Result) summary(b *strings.Builder) {
	what := "Means and standard deviations"
	if r.Table.Quartiles {
		what = "Medians [lower quartile, upper quartile]"
	}
	if r.Repetitions > 1 {
		what = fmt.Sprintf("%s over %d repetitions. ", what, r.Repetitions)
	} else {
		what = ""
	}
	b.WriteString(strings.TrimSpace(what+escape(r.Table.wanted())) + "\n\n")
}

func notes(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "## %s\n\n", title)
	for _, line := range lines {
		fmt.Fprintf(b, "- %s\n", escape(line))
	}
	b.WriteByte('\n')
}

// provenance writes the command that repeats the run, and its build.
func (r *Result) provenance(b *strings.Builder) {
	b.WriteString("## Made with\n\n")
	fmt.Fprintf(b, "    mustlink-bench paper %s --repetitions %d --seed %d", r.Table.Name, r.Repetitions,
		r.Seed)
	if len(r.Table.Data) > 0 {
		b.WriteString(" --data DIR")
	}
	b.WriteString("\n\n")
	fmt.Fprintf(b, "- Date: %s\n- Build: %s\n", today(), escape(r.Build.String()))
	fmt.Fprintf(b, "- Wall time: %s (all trials one after the other: %s)", seconds(r.Seconds),
		seconds(r.TrialSeconds))
	if r.Resumed > 0 {
		fmt.Fprintf(b, "; %d of %d trials were taken from a state file", r.Resumed, r.Repetitions)
	}
	b.WriteByte('\n')
}

func today() string { return time.Now().UTC().Format(time.DateOnly) }

// seconds returns a duration with about three digits: "1.24s", "3m8s".
func seconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	default:
		return d.Round(10 * time.Microsecond).String()
	}
}

// special are the characters with a meaning inside a paragraph or a table cell. In CommonMark, a
// backslash before ASCII punctuation gives that character.
const special = "\\`*_[]<>|~&"

// escape makes plain text safe inside a Markdown table cell, heading or list item. A block starts
// only at the start of a line, so escape also escapes a first character that could start one.
func escape(s string) string {
	var b strings.Builder
	for i, c := range strings.Join(strings.Fields(s), " ") {
		if strings.ContainsRune(special, c) || i == 0 && strings.ContainsRune("#+-=", c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}
