package paper

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/bench/docpage"
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
	short, files, err := docpage.Details(b.String(), "results/papers")
	if err != nil {
		t.Fatal(err)
	}
	files["../../reproduction.md"] = []byte(short + "\n" + until + rest)
	for name, want := range files {
		path := filepath.Join("../../docs/results/papers", name)
		if *recount {
			if err := os.WriteFile(path, want, 0o600); err != nil {
				t.Fatal(err)
			}
		} else if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s does not agree with the files in docs/results: run this test with -recount", path)
		}
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

// publishedEntry reads the comparisons and claims of a page from its file of numbers.
func publishedEntry(t *testing.T, name string, table Table, partial map[string]string) Entry {
	text, err := os.ReadFile("../../docs/results/" + name + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := docpage.Numbers(text)
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
	for _, l := range lines {
		if l.Table == "claims" {
			e.Claims = append(e.Claims, Claim{l.Row, Verdict(l.Verdict), l.Value})
		}
		if verdict := Verdict(l.Verdict); l.Table == "claims" || verdict == "" {
			continue
		}
		what, within := l.Row, l.Table == "" // the table itself, whose rows are systems
		if within && len(table.Columns) > 1 {
			what += ", " + l.Column
		}
		var key printed.Key
		switch {
		case within:
			key = table.publishedKey(l.Row, l.Column)
		case strings.HasPrefix(l.Row, "star: "):
			system, column, _ := strings.Cut(strings.TrimPrefix(l.Row, "star: "), ", ")
			key = starKey(table.publishedKey(system, column))
		case name == "hu-5":
			key = huPublishedKey(l.Row)
		default:
			key, rest = rest[0].Key, rest[1:]
		}
		number, ok := printed.Builtin().Find(key)
		if !ok || !sameNumber(l.Printed, number.Value) {
			t.Fatalf("%s: %+v is about %+v, with the value %g", name, l, key, number.Value)
		}
		e.Comparisons = append(e.Comparisons, Comparison{What: what, Key: &key, Verdict: Verdict(l.Verdict),
			Printed: once(number.Value), Ours: once(parsed(l.Value)), Units: parsed(l.Units)})
	}
	qualify(e.Comparisons, partial)
	return e
}

// parsed returns the number of a cell, NaN if there is none.
func parsed(cell string) float64 {
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// publishedKey returns the key of a system and a column; there may be only one column.
func (t Table) publishedKey(system, name string) printed.Key {
	return t.Keys[t.row(system)][max(slices.Index(t.Columns, name), 0)]
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
