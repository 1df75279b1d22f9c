package paper

import (
	"fmt"
	"math"
	"strings"
)

// Entry is a table or figure of a paper with what has become of it.
type Entry struct {
	Name        string       `json:"name"`
	Paper       string       `json:"paper"`
	Label       string       `json:"label"`
	Caption     string       `json:"caption"`
	Missing     []string     `json:"missing,omitempty"` // files that are not there; then there is nothing else
	Comparisons []Comparison `json:"comparisons,omitempty"`
	Orders      []Order      `json:"orders,omitempty"`
	Why         string       `json:"why,omitempty"` // of orders that are not reproduced
	Notes       []string     `json:"notes,omitempty"`
	Repetitions int          `json:"repetitions,omitempty"`
	Seconds     float64      `json:"seconds"`
	Build       Build        `json:"build"`
}

// Entry returns the entry of a table.
func (r *Result) Entry() (Entry, error) {
	t := r.Table
	e := Entry{Name: t.Name, Paper: t.Paper, Label: t.Label, Caption: t.Caption, Comparisons: r.Comparisons(), Why: t.Why,
		Repetitions: r.Repetitions, Seconds: r.TrialSeconds, Build: r.Build}
	var err error
	e.Orders, err = r.Orders()
	return e, err
}

// Entry returns the entry of a figure.
func (d *Drawing) Entry() Entry {
	f := d.Figure
	e := Entry{Name: f.Name, Paper: f.Paper, Label: f.Label, Caption: f.Caption, Notes: d.Notes, Seconds: d.Seconds, Build: d.Build}
	if f.Compared != nil {
		e.Comparisons = f.Compared(d)
	}
	return e
}

// Tally counts printed figures by what became of them.
type Tally struct {
	Reproduced int `json:"reproduced"`
	Better     int `json:"better"`
	Worse      int `json:"worse"`
}

// Share is that of the figures that are reproduced or better, 0 without any.
func (t Tally) Share() float64 {
	good := float64(t.Reproduced + t.Better)
	return good / max(1, good+float64(t.Worse))
}

// Count counts the printed figures of entries.
func Count(entries []Entry) Tally {
	var t Tally
	for _, e := range entries {
		for _, c := range e.Comparisons {
			switch c.Verdict {
			case Reproduced:
				t.Reproduced++
			case Better:
				t.Better++
			default:
				t.Worse++
			}
		}
	}
	return t
}

// Reproduction returns a page about all entries; results is the folder of their pages, relative to it, and command what
// makes it again.
func Reproduction(entries []Entry, results, command string) string {
	var b strings.Builder
	b.WriteString("# The papers' tables and figures, computed again\n\n")
	tally := Count(entries)
	fmt.Fprintf(&b, "Of the %d printed figures that we know and have the data for, %d are reproduced, %d better and %d worse: %.0f %% reproduced or better. ",
		tally.Reproduced+tally.Better+tally.Worse, tally.Reproduced, tally.Better, tally.Worse, 100*tally.Share())
	b.WriteString("Where a paper's numbers are not at hand, what can be said is whether its own method is ahead of those that it is compared with.\n\n")
	b.WriteString("*Reproduced*: at most one standard deviation away, the printed one where there is one, else ours over the repetitions (or 1 %). *Better*, *worse*: farther, on that side. Every method has one rule for its parameters in all tables of a paper, which the pages of the tables state.\n\n")
	b.WriteString("## Printed figures\n\n| table | figure | paper | ours | difference, s.d. | verdict |\n| --- | --- | ---: | ---: | ---: | --- |\n")
	for _, e := range entries {
		for _, c := range e.Comparisons {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", e.link(results), escape(c.What), plain(c.Printed), plain(c.Ours), units(c.Units), c.Verdict)
		}
	}
	b.WriteByte('\n')
	reasons(&b, entries, func(e Entry) (string, bool) {
		for _, c := range e.Comparisons {
			if c.Verdict == Worse {
				return c.Why, true
			}
		}
		return "", false
	})
	orders(&b, entries, results)
	others(&b, entries, results)
	made(&b, entries, command)
	return b.String()
}

// orders writes how the papers' methods compare.
func orders(b *strings.Builder, entries []Entry, results string) {
	b.WriteString("## Orders\n\nThe paper's own method against each system of its table, over the table's columns: on how many its mean is at least as good, on how many of these with certainty, and on how many the other is better with certainty (paired Wilcoxon test over the repetitions, 0.05; by Student's paired test in brackets). *Reproduced*: ahead on half of the columns or more, certainly behind on none. *Mixed*: ahead on more than it is certainly behind.\n\n")
	b.WriteString("| table | own method | against | ahead | certainly | certainly behind | verdict |\n| --- | --- | --- | ---: | ---: | ---: | --- |\n")
	for _, e := range entries {
		for _, o := range e.Orders {
			fmt.Fprintf(b, "| %s | %s | %s | %d of %d | %d | %d (%d) | %s |\n", e.link(results), escape(o.Own), escape(o.Other), o.Ahead, o.Columns, o.Surely, o.Behind, o.Student, o.Verdict)
		}
	}
	b.WriteByte('\n')
	reasons(b, entries, func(e Entry) (string, bool) {
		for _, o := range e.Orders {
			if o.Verdict != Reproduced {
				return e.Why, true
			}
		}
		return "", false
	})
}

// reasons writes why some entries are not reproduced.
func reasons(b *strings.Builder, entries []Entry, why func(Entry) (string, bool)) {
	written := false
	for _, e := range entries {
		if text, ask := why(e); ask {
			fmt.Fprintf(b, "- %s: %s\n", escape(e.Name), escape(text))
			written = true
		}
	}
	if written {
		b.WriteByte('\n')
	}
}

// others writes what is neither: figures with what they come to, and tables whose data are not there.
func others(b *strings.Builder, entries []Entry, results string) {
	b.WriteString("## Figures, and what is not there\n\n")
	for _, e := range entries {
		switch {
		case len(e.Missing) > 0:
			fmt.Fprintf(b, "- %s, %s: data not available (%s).\n", escape(e.Name), escape(e.Label), escape(strings.Join(e.Missing, ", ")))
		case len(e.Comparisons) == 0 && len(e.Orders) == 0:
			fmt.Fprintf(b, "- %s, %s: %s.", e.link(results), escape(e.Label), escape(e.Caption))
			for _, n := range e.Notes {
				fmt.Fprintf(b, " %s", escape(n))
			}
			b.WriteByte('\n')
		}
	}
	b.WriteByte('\n')
}

// made writes how the page was made.
func made(b *strings.Builder, entries []Entry, command string) {
	fmt.Fprintf(b, "## Made with\n\n<!-- run: skip, hours of benchmarks -->\n```sh\n%s\n```\n\n", command)
	var total float64
	seen := map[string]bool{}
	for _, e := range entries {
		total += e.Seconds
		if line := e.Build.String(); len(e.Missing) == 0 && !seen[line] {
			seen[line] = true
			fmt.Fprintf(b, "- Build: %s\n", escape(line))
		}
	}
	fmt.Fprintf(b, "- All trials and figures one after the other: %s\n", seconds(total))
}

// link is the name of the entry, leading to its page.
func (e Entry) link(results string) string {
	return fmt.Sprintf("[%s](%s/%s.md)", escape(e.Name), results, e.Name)
}

// plain writes a value with four digits.
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
