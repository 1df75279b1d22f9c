package metamorphic

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table into docs/results/unchanged.md")

const (
	path  = "../../docs/results/unchanged.md"
	begin = "<!-- metamorphic -->\n"
	end   = "<!-- end of metamorphic -->\n"
)

// page returns the part of the page that the test writes.
func page(list []relation, rows []string) string {
	var b strings.Builder
	for k, r := range list {
		fmt.Fprintf(&b, "%d. %s\n", k+1, r.name)
	}
	b.WriteString("\n| method |")
	for k := range list {
		fmt.Fprintf(&b, " %d |", k+1)
	}
	b.WriteString("\n| ---" + strings.Repeat(" | :-:", len(list)) + " |\n")
	b.WriteString(strings.Join(rows, "\n") + "\n")
	if len(exceptions) > 0 {
		b.WriteString("\nThe exceptions:\n\n")
	}
	for k, e := range exceptions {
		fmt.Fprintf(&b, "%d. %s\n", k+1, e.why)
	}
	return b.String()
}

// checkPage compares the part with that of the file, or puts it there.
func checkPage(t *testing.T, part string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, there := strings.Cut(string(text), begin)
	old, after, ended := strings.Cut(rest, end)
	switch {
	case !there || !ended:
		t.Fatalf("%s has no lines %q and %q", path, begin, end)
	case *update:
		if err := os.WriteFile(path, []byte(before+begin+part+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	case old != part:
		t.Errorf("the table of %s is out of date: run go test ./internal/metamorphic -update; want\n%s", path,
			part)
	}
}

// line returns the cells of a method in the table of the page, count of them.
func line(t *testing.T, method string, count int) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), begin)
	_, cells, _ := strings.Cut(table, "\n| "+method+" | ")
	cells, _, _ = strings.Cut(cells, " |\n")
	out := make([]string, count)
	copy(out, strings.Split(cells, " | "))
	return out
}
