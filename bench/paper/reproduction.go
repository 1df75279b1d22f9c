package paper

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/mustlink/mustlink/bench/printed"
)

// Entry is a table or figure of a paper with its comparisons.
type Entry struct {
	Name        string       `json:"name"`
	Paper       string       `json:"paper"`
	Label       string       `json:"label"`
	Caption     string       `json:"caption"`
	Missing     []string     `json:"missing,omitempty"` // missing files; then the entry has no comparisons
	Wanted      string       `json:"wanted,omitempty"`  // which files the columns without values want
	Comparisons []Comparison `json:"comparisons,omitempty"`
	Orders      []Order      `json:"orders,omitempty"`
	Claims      []Claim      `json:"claims,omitempty"`
	Tried       []string     `json:"tried,omitempty"` // explanations for differences, with their numbers
	Why         string       `json:"why,omitempty"`   // why orders are not reproduced
	Notes       []string     `json:"notes,omitempty"`
	Repetitions int          `json:"repetitions,omitempty"`
	Seconds     float64      `json:"seconds"`
	Build       Build        `json:"build"`
}

// Entry returns the entry of a table.
func (r *Result) Entry() (Entry, error) {
	t := r.Table
	e := Entry{Name: t.Name, Paper: t.Paper, Label: t.Label, Caption: t.Caption, Wanted: t.wanted(),
		Comparisons: r.Comparisons(), Why: t.Why,
		Tried: t.Tried, Repetitions: r.Repetitions, Seconds: r.TrialSeconds, Build: r.Build}
	if t.Claims != nil {
		e.Claims = t.Claims(r)
	}
	var err error
	e.Orders, err = r.Orders()
	return e, err
}

// Entry returns the entry of a figure.
func (d *Drawing) Entry() Entry {
	f := d.Figure
	e := Entry{Name: f.Name, Paper: f.Paper, Label: f.Label, Caption: f.Caption, Notes: d.Notes,
		Tried: f.Tried, Seconds: d.Seconds, Build: d.Build}
	if f.Compared != nil {
		e.Comparisons = qualify(f.Compared(d), f.Partial)
	}
	if f.Claims != nil {
		e.Claims = f.Claims(d)
	}
	return e
}

// Reproduction returns a page about all entries. The argument numbers holds all that the papers
// print; results is the folder of the pages of the entries, relative to this one, and command the
// command that writes it.
func Reproduction(entries []Entry, numbers *printed.Numbers, results, command string) string {
	var b strings.Builder
	b.WriteString("# Reproduction of the papers' tables and figures\n\n")
	counts(&b, entries, numbers, results)
	worse(&b, entries, results)
	claimed(&b, entries, results)
	orders(&b, entries, results)
	reasons(&b, entries)
	others(&b, entries, results)
	made(&b, entries, command)
	return b.String()
}

// orders writes how the methods of the papers compare with others.
func orders(b *strings.Builder, entries []Entry, results string) {
	b.WriteString("## Orders\n\n")
	fold(b, "", "The own method against each system of its table. *Ahead* counts the columns where its mean is "+
		"at least as good, and *certainly* those with a difference by a paired Wilcoxon test over the "+
		"repetitions, 0.05 (by Student's paired test in brackets). *Reproduced* means ahead on half of the "+
		"columns or more, certainly behind on none, and *mixed* ahead on more than it is certainly behind.")
	b.WriteByte('\n')
	b.WriteString("| table | own method | against | ahead | certainly | certainly behind | verdict |\n| " +
		"--- | --- | --- | ---: | ---: | ---: | --- |\n")
	for _, e := range entries {
		for _, o := range e.Orders {
			fmt.Fprintf(b, "| %s | %s | %s | %d of %d | %d | %d (%d) | %s |\n", e.link(results),
				escape(o.Own), escape(o.Other), o.Ahead, o.Columns, o.Surely, o.Behind, o.Student, o.Verdict)
		}
	}
	b.WriteByte('\n')
}

// reasons writes why some numbers and orders are not reproduced.
func reasons(b *strings.Builder, entries []Entry) {
	b.WriteString("## Why numbers and orders differ\n\n")
	for _, e := range entries {
		if text, ok := e.reason(); ok {
			fold(b, "- ", escape(e.Name)+": "+escape(text))
		}
	}
	b.WriteByte('\n')
}

// reason returns what was tried for numbers that are worse or orders that are not reproduced, and
// reports whether there are any.
func (e Entry) reason() (string, bool) {
	for _, c := range e.Comparisons {
		if c.Verdict == Worse {
			return c.Why, true
		}
	}
	for _, o := range e.Orders {
		if o.Verdict != Reproduced {
			return e.Why, true
		}
	}
	return "", false
}

// others writes the remaining entries: figures with their notes, and tables with missing data.
func others(b *strings.Builder, entries []Entry, results string) {
	b.WriteString("## Other figures, and missing data\n\n")
	for _, e := range entries {
		if e.Wanted != "" {
			fold(b, "- ", fmt.Sprintf("%s, %s: %s", e.link(results), escape(e.Label), escape(e.Wanted)))
		}
		switch {
		case len(e.Missing) > 0:
			fold(b, "- ", fmt.Sprintf("%s, %s: data not available (%s).", escape(e.Name), escape(e.Label),
				escape(strings.Join(e.Missing, ", "))))
		case len(e.Comparisons) == 0 && len(e.Orders) == 0:
			text := fmt.Sprintf("%s, %s: %s.", e.link(results), escape(e.Label), escape(e.Caption))
			for _, n := range e.Notes {
				text += " " + escape(n)
			}
			fold(b, "- ", text)
		}
	}
	b.WriteByte('\n')
}

// made writes the command and the builds of the page.
func made(b *strings.Builder, entries []Entry, command string) {
	fmt.Fprintf(b, "## Made with\n\n<!-- run: skip, hours of benchmarks -->\n```sh\n%s\n```\n\n", command)
	var total float64
	seen := map[string]bool{}
	for _, e := range entries {
		total += e.Seconds
		if line := e.Build.String(); len(e.Missing) == 0 && !seen[line] {
			seen[line] = true
			fold(b, "- ", "Build: "+escape(line))
		}
	}
	fmt.Fprintf(b, "- All trials and figures one after the other: %s\n", seconds(total))
}

// fold writes a paragraph, or a list item if the mark is "- ", in lines of at most 100 characters.
func fold(b *strings.Builder, mark, text string) {
	b.WriteString(mark)
	column := len(mark)
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i > 0 && column+1+n > 100:
			b.WriteByte('\n')
			b.WriteString(strings.Repeat(" ", len(mark)))
			column = len(mark)
		case i > 0:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	b.WriteByte('\n')
}

// link returns the name of the entry as a link to its page.
func (e Entry) link(results string) string {
	return fmt.Sprintf("[%s](%s/%s.md)", escape(e.Name), results, e.Name)
}

// plain returns a value with four digits.
func plain(v Value) string {
	if math.IsNaN(v.SD) {
		return fmt.Sprintf("%.4g", v.Mean)
	}
	return fmt.Sprintf("%.4g ± %.2g", v.Mean, v.SD)
}

func units(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf("%+.1f", v)
}
