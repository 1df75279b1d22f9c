package metamorphic

import (
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/results/unchanged.csv, and the exceptions into its page")

const (
	path  = "../../docs/results/unchanged.md"
	file  = "../../docs/results/unchanged.csv"
	begin = "<!-- metamorphic -->\n"
	end   = "<!-- end of metamorphic -->\n"
)

// numbers returns the file: a line for each method and relation, in the columns of all results.
func numbers(t *testing.T, list []relation, rows map[string][]string, methods []string) string {
	t.Helper()
	lines := [][]string{{"table", "row", "column", "value"}}
	for _, method := range methods {
		for k, cell := range rows[method] {
			lines = append(lines, []string{"", method, list[k].name, cell})
		}
	}
	var b strings.Builder
	if err := csv.NewWriter(&b).WriteAll(lines); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// page returns the part of the page that the test writes.
func page() string {
	var b strings.Builder
	for k, e := range exceptions {
		fmt.Fprintf(&b, "%d. %s\n", k+1, e.why)
	}
	return b.String()
}

// checkPage compares the file and the part of the page with those that were found, or writes them.
func checkPage(t *testing.T, found string) {
	text := read(t, path)
	before, rest, there := strings.Cut(text, begin)
	_, after, ended := strings.Cut(rest, end)
	if !there || !ended {
		t.Fatalf("%s has no lines %q and %q", path, begin, end)
	}
	for name, want := range map[string]string{file: found, path: before + begin + page() + end + after} {
		if *update {
			if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if read(t, name) != want {
			t.Errorf("%s is out of date: run go test ./internal/metamorphic -update; want\n%s", name, want)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// line returns the cells of a method in the file, count of them.
func line(t *testing.T, method string, count int) []string {
	lines, err := csv.NewReader(strings.NewReader(read(t, file))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, cells := range lines {
		if cells[1] == method {
			out = append(out, cells[3])
		}
	}
	return append(out, make([]string, count)...)[:count]
}
