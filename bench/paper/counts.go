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

// counts writes how many printed numbers are reproduced, by table and kind.
func counts(b *strings.Builder, entries []Entry, numbers *printed.Numbers, results string) {
	tallies, pages, seen := map[group]*Tally{}, map[string][]string{}, map[printed.Key]bool{}
	var same, other Tally
	kinds := map[Kind]*Tally{Quality: {}, Time: {}, Size: {}}
	for _, e := range entries {
		for _, c := range e.Comparisons {
			if c.Key == nil || seen[*c.Key] { // a number counts once, on the first page that has it
				continue
			}
			seen[*c.Key] = true
			g := group{c.Key.Table, kindOf(c.Key.Measure), c.Partial != ""}
			if tallies[g] == nil {
				tallies[g] = &Tally{}
			}
			tallies[g].count(c.Verdict)
			if link := e.link(results); !slices.Contains(pages[g.table], link) {
				pages[g.table] = append(pages[g.table], link)
			}
			if g.partial {
				other.count(c.Verdict)
				continue
			}
			same.count(c.Verdict)
			kinds[g.kind].count(c.Verdict)
		}
	}
	all := len(numbers.All())
	fold(b, "", fmt.Sprintf("The five papers print %d numbers in tables and texts. Of these %d are compared on the paper's data: "+
		"%d reproduced, %d better and %d worse, so %.0f %% are reproduced or better (%s). Another %d are compared on a part or "+
		"another version of the data (%.0f %% reproduced or better); these count in no share above. %d have no counterpart.",
		all, same.Compared(), same.Reproduced, same.Better, same.Worse, 100*same.Share(), shares(kinds), other.Compared(), 100*other.Share(),
		all-same.Compared()-other.Compared()))
	b.WriteByte('\n')
	fold(b, "", "*Reproduced* means at most one standard deviation away, or 1 %. The standard deviation is pooled over the printed one and "+
		"ours over the repetitions: the root of the mean of the two variances, or the one that there is. *Better* and *worse* "+
		"mean farther, on that side; numbers without a good side, such as sizes, are reproduced or worse. A paper has one rule for "+
		"what it leaves open, in all its tables; the pages of the tables state it.")
	b.WriteByte('\n')
	b.WriteString("## Printed numbers\n\n| table of the paper | about | data | printed | compared | reproduced | better | worse | pages |\n" +
		"| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- |\n")
	total := map[group]int{}
	for _, n := range numbers.All() {
		total[group{table: n.Table, kind: kindOf(n.Measure)}]++
	}
	for _, table := range printed.Tables() {
		for _, kind := range []Kind{Quality, Time, Size} {
			writeGroup(b, table, kind, total[group{table: table, kind: kind}], tallies, pages[table])
		}
	}
	b.WriteByte('\n')
}

// writeGroup writes the lines of a table and a kind.
func writeGroup(b *strings.Builder, table string, kind Kind, total int, tallies map[group]*Tally, pages []string) {
	if total == 0 {
		return
	}
	left := total
	for _, partial := range []bool{false, true} {
		t := tallies[group{table, kind, partial}]
		if t == nil {
			continue
		}
		data := "the paper's"
		if partial {
			data = "in part"
		}
		left -= t.Compared()
		fmt.Fprintf(b, "| %s | %s | %s | %d | %d | %d | %d | %d | %s |\n", table, kind, data, total, t.Compared(), t.Reproduced, t.Better, t.Worse, strings.Join(pages, ", "))
	}
	if left > 0 {
		fmt.Fprintf(b, "| %s | %s | none | %d | %d | - | - | - | - |\n", table, kind, total, 0)
	}
}

// shares writes the shares by kind.
func shares(kinds map[Kind]*Tally) string {
	var parts []string
	for _, k := range []Kind{Quality, Time, Size} {
		if t := kinds[k]; t.Compared() > 0 {
			parts = append(parts, fmt.Sprintf("%s %d of %d", k, t.Reproduced+t.Better, t.Compared()))
		}
	}
	return strings.Join(parts, ", ")
}

// claimed writes the claims of the papers' texts.
func claimed(b *strings.Builder, entries []Entry, results string) {
	var rows strings.Builder
	n := map[Verdict]int{}
	for _, e := range entries {
		for _, c := range e.Claims {
			n[c.Verdict]++
			fmt.Fprintf(&rows, "| %s | %s | %s |\n", e.link(results), escape(c.Text), c.Verdict)
		}
	}
	if rows.Len() == 0 {
		return
	}
	b.WriteString("## What the papers say\n\n")
	fold(b, "", fmt.Sprintf("The claims of the texts about the order of methods: %d reproduced, %d mixed, %d not. The pages have the numbers.", n[Reproduced], n[Mixed], n[Worse]))
	b.WriteString("\n| page | claim | here |\n| --- | --- | --- |\n" + rows.String() + "\n")
}
