package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/bench/printed"
)

// group is what is counted together: printed numbers of a kind in a table, on the paper's data or
// on others.
type group struct {
	table   string // of the paper
	kind    Kind
	partial bool
}

// Tally counts printed values by their verdicts.
type Tally struct {
	Reproduced int `json:"reproduced"`
	Better     int `json:"better"`
	Worse      int `json:"worse"`
}

// Compared returns the number of values.
func (t Tally) Compared() int { return t.Reproduced + t.Better + t.Worse }

// add adds another tally.
func (t *Tally) add(o Tally) {
	t.Reproduced, t.Better, t.Worse = t.Reproduced+o.Reproduced, t.Better+o.Better, t.Worse+o.Worse
}

// one returns the tally of one verdict.
func one(v Verdict) Tally {
	switch v {
	case Reproduced:
		return Tally{Reproduced: 1}
	case Better:
		return Tally{Better: 1}
	}
	return Tally{Worse: 1}
}

// Count counts the printed numbers of a kind that are compared on the paper's data. A number that
// several pages compare counts once, on the first.
func Count(entries []Entry, kind Kind) Tally {
	var sum Tally
	for g, t := range tallies(entries) {
		if g.kind == kind && !g.partial {
			sum.add(t)
		}
	}
	return sum
}

// tallies counts the printed numbers of entries, each on the first page that has it.
func tallies(entries []Entry) map[group]Tally {
	out, seen := map[group]Tally{}, map[printed.Key]bool{}
	for _, e := range entries {
		for _, c := range e.Comparisons {
			if c.Key == nil || seen[*c.Key] {
				continue
			}
			seen[*c.Key] = true
			g := group{c.Key.Table, kindOf(*c.Key), c.Partial != ""}
			t := out[g]
			t.add(one(c.Verdict))
			out[g] = t
		}
	}
	return out
}

// counts writes how many printed numbers are reproduced, the kinds apart.
func counts(b *strings.Builder, entries []Entry, numbers *printed.Numbers, results string) {
	summary(b, entries, len(numbers.All()))
	total := map[group]int{}
	for _, n := range numbers.All() {
		total[group{table: n.Table, kind: kindOf(n.Key)}]++
	}
	found, pages := tallies(entries), pagesOf(entries, results)
	for _, s := range sections() {
		fmt.Fprintf(b, "## %s\n\n", s.title)
		fold(b, "", s.text)
		fmt.Fprintf(b, "\n| table of the paper | data | printed | compared | reproduced | %s | %s | pages |\n"+
			"| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |\n", s.good, s.bad)
		for _, table := range printed.Tables() {
			writeGroup(b, group{table: table, kind: s.kind}, total, found, pages[table])
		}
		b.WriteByte('\n')
	}
	size := Count(entries, Size)
	fold(b, "", fmt.Sprintf("Of the sizes of the papers' data sets and the numbers of links, "+
		"%d of %d are the printed ones.", size.Reproduced, size.Compared()))
	b.WriteByte('\n')
}

// summary writes the counts of quality on the papers' data, and the rule of comparing.
func summary(b *strings.Builder, entries []Entry, all int) {
	own, rival := Count(entries, Own), Count(entries, Rival)
	share := 100 * float64(own.Reproduced) / max(1, float64(own.Compared()))
	fold(b, "", fmt.Sprintf("The five papers print %d numbers. Of the %d that are the quality of a paper's "+
		"own method on its own data, **%d (%.0f %%) are reproduced, %d are better and %d are worse**. Of the "+
		"%d of rivals and baselines on the same data %d are reproduced; of the other %d, %d are not because "+
		"our version of the rival is better than the paper prints. These shares leave out times, sizes, stars "+
		"and counts, and numbers on a part or another version of the data.",
		all, own.Compared(), own.Reproduced, share, own.Better, own.Worse,
		rival.Compared(), rival.Reproduced, rival.Compared()-rival.Reproduced, rival.Better))
	b.WriteByte('\n')
	fold(b, "", "*Reproduced* means at most one standard deviation away (the root of the mean of the printed "+
		"variance and ours, or the one that there is), or 1 %; *better* and *worse* mean farther, on that side. "+
		"The pages state what a paper leaves open.")
	b.WriteByte('\n')
}

// section is a table of counts, with its names for better and worse.
type section struct {
	kind        Kind
	title, text string
	good, bad   string
}

func sections() []section {
	return []section{
		{Own, "Quality of the papers' own methods",
			"Lines *in part* are about a part or another version of the data, and lines *none* have no " +
				"counterpart here.", "better", "worse"},
		{Rival, "Quality of rivals and baselines",
			"A rival above its printed value can be why an order of methods fails.", "above", "below"},
		{Mark, "Stars, signs and counts", "Stars mark the significantly best system, signs significant " +
			"differences.", "better", "worse"},
		{Time, "Times", "The papers' hardware and programs are of 2011 and before, so *faster* (or a larger " +
			"speedup over a rival) says little about the methods.", "faster", "slower"},
	}
}

// pagesOf returns links to the pages that compare numbers of each table of a paper.
func pagesOf(entries []Entry, results string) map[string][]string {
	pages := map[string][]string{}
	for _, e := range entries {
		for _, c := range e.Comparisons {
			if link := e.link(results); c.Key != nil && !slices.Contains(pages[c.Key.Table], link) {
				pages[c.Key.Table] = append(pages[c.Key.Table], link)
			}
		}
	}
	return pages
}

// writeGroup writes the lines of a table and a kind.
func writeGroup(b *strings.Builder, g group, total map[group]int, found map[group]Tally, pages []string) {
	left := total[g]
	for _, data := range []string{"the paper's", "in part"} {
		t := found[group{g.table, g.kind, data == "in part"}]
		if t.Compared() == 0 {
			continue
		}
		left -= t.Compared()
		fmt.Fprintf(b, "| %s | %s | %d | %d | %d | %d | %d | %s |\n", g.table, data, total[g],
			t.Compared(), t.Reproduced, t.Better, t.Worse, strings.Join(pages, ", "))
	}
	if left > 0 {
		fmt.Fprintf(b, "| %s | none | %d | 0 | - | - | - | - |\n", g.table, total[g])
	}
}

// claimed writes the claims of the papers' texts.
func claimed(b *strings.Builder, entries []Entry, results string) {
	var rows, failing strings.Builder
	n := map[Verdict]int{}
	for _, e := range entries {
		for _, c := range e.Claims {
			if !strings.HasPrefix(c.Text, "the same ") {
				n[c.Verdict]++
			}
			if c.Verdict == Reproduced {
				fmt.Fprintf(&rows, "| %s | %s |\n", e.link(results), escape(c.Text))
				continue
			}
			fmt.Fprintf(&failing, "| %s | %s | %s | %s | %s |\n", e.link(results), escape(c.Text), c.Verdict,
				escape(c.Detail), escape(triedFor(e.Name, c.Text)))
		}
	}
	if len(n) == 0 {
		return
	}
	b.WriteString("## What the papers say\n\n")
	fold(b, "", fmt.Sprintf(
		"Of the claims about the order of methods %d are reproduced, %d are mixed and %d are not; the "+
			"table has the last. Lines that begin with *the same* repeat a claim under other choices of ours "+
			"and do not count.", n[Reproduced], n[Mixed], n[Worse]))
	b.WriteString("\n| page | claim that is not reproduced | here | where | tried |\n" +
		"| --- | --- | --- | --- | --- |\n" + failing.String())
	b.WriteString("\n| page | claim that is reproduced |\n| --- | --- |\n" + rows.String() + "\n")
}

// worse writes a line for each number of an own method, and each mark, that is worse than printed.
func worse(b *strings.Builder, entries []Entry, results string) {
	b.WriteString("## Numbers that are worse\n\n")
	fold(b, "", "Each number of an own method, star, sign or count that is worse than printed, with what was "+
		"tried; in brackets where the data are not the paper's.")
	b.WriteString("\n| page | number | here | printed | in s.d. | tried |\n" +
		"| --- | --- | ---: | ---: | ---: | --- |\n")
	last := ""
	for _, e := range entries {
		for _, c := range e.Comparisons {
			if c.Key == nil || c.Verdict != Worse || kindOf(*c.Key) != Own && kindOf(*c.Key) != Mark {
				continue
			}
			what, tried := c.What, triedFor(e.Name, c.What)
			if c.Partial != "" {
				what = "(" + what + ")"
			}
			if tried == last && tried != notTried {
				tried = "as above"
			} else {
				last = tried
			}
			fmt.Fprintf(b, "| %s | %s | %.3g | %.3g | %s | %s |\n", e.link(results), escape(what),
				c.Ours.Mean, c.Printed.Mean, units(c.Units), escape(tried))
		}
	}
	b.WriteByte('\n')
}
