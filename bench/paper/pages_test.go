package paper

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/bench/printed"
)

var recount = flag.Bool("recount", false, "rewrite docs/reproduction.md as far as docs/results decides it")

// TestPublishedCounts: the counts, the worse numbers and the claims of the published page are those
// of the published tables, and what was tried is about some of them.
// `go test ./paper -run PublishedCounts -recount` rewrites them without a trial.
func TestPublishedCounts(t *testing.T) {
	const page, until = "../../docs/reproduction.md", "## Orders\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), until)
	if !found {
		t.Fatalf("%s has no heading %q", page, until)
	}
	var b strings.Builder
	b.WriteString("# Reproduction of the papers' tables and figures\n\n")
	entries := published(t)
	counts(&b, entries, printed.Builtin(), "results")
	worse(&b, entries, "results")
	claimed(&b, entries, "results")
	for _, r := range tried() {
		if !strings.Contains(b.String(), escape(r.tried)) {
			t.Errorf("nothing on the page is about %s, %q", r.page, r.about)
		}
	}
	want := b.String() + until + rest
	if *recount {
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Errorf("%s does not agree with the pages in docs/results: run this test with -recount", page)
	}
}

// published reads the comparisons and claims of all tables and figures from their pages.
func published(t *testing.T) []Entry {
	var out []Entry
	for _, table := range Tables() {
		if table.Name != "tsang-2-95" { // without data, and so without a page
			out = append(out, publishedEntry(t, table.Name, table, table.Partial))
		}
	}
	for _, f := range Figures() {
		out = append(out, publishedEntry(t, f.Name, Table{}, f.Partial))
	}
	return out
}

// publishedEntry reads the comparisons of a page, lines of tables that end with a verdict, and its
// claims.
func publishedEntry(t *testing.T, name string, table Table, partial map[string]string) Entry {
	text, err := os.ReadFile("../../docs/results/" + name + ".md")
	if err != nil {
		t.Fatal(err)
	}
	var rest []printed.Number // those outside the tables' rows and columns, in the order of their file
	for _, n := range printed.Builtin().All() {
		if n.Table == name || n.Table == "hu-text" && name == "hu-5" {
			rest = append(rest, n)
		}
	}
	e := Entry{Name: name}
	for line := range strings.Lines(string(text)) {
		c := cells(strings.TrimSpace(line))
		if len(c) == 5 && c[0] == "" && slices.Contains([]Verdict{Reproduced, Mixed, Worse}, Verdict(c[2])) {
			e.Claims = append(e.Claims, Claim{c[1], Verdict(c[2]), c[3]})
		}
		if len(c) < 7 || c[0] != "" {
			continue
		}
		c = c[1 : len(c)-1]
		what, verdict, value, ours := c[0], Verdict(c[len(c)-1]), c[len(c)-3], c[len(c)-4]
		if len(c) > 5 {
			value, ours = c[len(c)-4], c[len(c)-5]
		}
		if len(c) > 6 {
			what = c[1] + ", " + c[0]
		}
		if verdict != Reproduced && verdict != Better && verdict != Worse {
			continue
		}
		var key printed.Key
		switch {
		case len(c) > 5:
			key = table.publishedKey(c)
		case strings.HasPrefix(c[0], "star: "):
			system, column, _ := strings.Cut(strings.TrimPrefix(c[0], "star: "), ", ")
			key = starKey(table.publishedKey([]string{column, system, "", "", "", "", ""}))
		case name == "hu-5":
			key = huPublishedKey(c[0])
		default:
			key, rest = rest[0].Key, rest[1:]
		}
		number, ok := printed.Builtin().Find(key)
		if head, _, _ := strings.Cut(value, " "); !ok || !sameNumber(head, number.Value) {
			t.Fatalf("%s: %q is about %+v, with the value %g", name, line, key, number.Value)
		}
		e.Comparisons = append(e.Comparisons, Comparison{What: what, Key: &key, Verdict: verdict,
			Printed: once(number.Value), Ours: once(firstNumber(ours)), Units: firstNumber(c[len(c)-2])})
	}
	qualify(e.Comparisons, partial)
	return e
}

// firstNumber returns the number before the first space of a cell, NaN if there is none.
func firstNumber(cell string) float64 {
	text, _, _ := strings.Cut(cell, " ")
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// publishedKey returns the key of a line: column, system and five more cells, or the first is left
// out where there is one column.
func (t Table) publishedKey(line []string) printed.Key {
	column, system := 0, line[0]
	if len(line) > 6 {
		system = line[1]
		for j, name := range t.Columns {
			if name == line[0] {
				column = j
			}
		}
	}
	return t.Keys[t.row(system)][column]
}

// huPublishedKey returns the key of a comparison of [huTimes.compared].
func huPublishedKey(what string) printed.Key {
	if what == "largest speedup of the square loss" {
		return printed.Key{Table: "hu-text", Condition: "introduction; square loss", Method: huSL,
			Measure: "speedup_over_" + huSimply + "_more_than"}
	}
	set, measure, _ := strings.Cut(what, ": ")
	if name, graph, ok := strings.Cut(set, ", "); ok {
		method, measure, _ := strings.Cut(measure, ", ")
		return printed.Key{Table: "hu-5", Dataset: name, Condition: graph, Method: method, Measure: measure}
	}
	if measure == "constraints" {
		return printed.Key{Table: "hu-5", Dataset: set, Condition: "much", Measure: measure}
	}
	return printed.Key{Table: "hu-2", Dataset: set, Measure: measure}
}

// sameNumber reports whether a text is a number as pages print it.
func sameNumber(text string, v float64) bool {
	for _, form := range []string{"%.4g", "%.0f", "%.1f", "%.2f", "%.3f", "%.4f"} {
		if fmt.Sprintf(form, v) == text {
			return true
		}
	}
	return false
}
