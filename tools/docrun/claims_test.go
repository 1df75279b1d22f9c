package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
)

const docs = "../../docs/"

// readPage returns the text of a page.
func readPage(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// tables returns the cells of all tables of a page by the names of their row and column. The first
// cell of the same names counts.
func tables(text string) map[[2]string]string {
	out := map[[2]string]string{}
	var head []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			head = nil
			continue
		}
		row := strings.Split(strings.Trim(line, "|"), "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		if head == nil {
			head = row
			continue
		}
		for i, cell := range row {
			key := [2]string{row[0], head[min(i, len(head)-1)]}
			if _, is := out[key]; !is {
				out[key] = cell
			}
		}
	}
	return out
}

// TestReadmeCopiesResults: the limits of README have the numbers of the results.
func TestReadmeCopiesResults(t *testing.T) {
	r := readResults(t)
	short := func(reference string) string {
		v, is := r.number(reference)
		if !is {
			t.Fatalf("no number %s", reference)
		}
		return strings.TrimPrefix(fmt.Sprintf("%.3f", v), "0")
	}
	heldOut := func(row string) string { return short("cross; " + row + "; balanced Rand, held-out") }
	loss := func(row string) string {
		at := "curves; Mean over the 6 sets; " + row + "; "
		return short(at + "0 % wrong, held-out rows minus " + at + "10 % wrong, held-out rows")
	}
	readme := strings.Join(strings.Fields(readPage(t, "../../README.md")), " ")
	for _, want := range []string{
		fmt.Sprintf("(mean balanced Rand index %s, %s, %s, %s; raw %s)", heldOut("blend"), heldOut("lleratio"),
			heldOut("krca"), heldOut("kbeta"), heldOut("raw points")),
		fmt.Sprintf("falls by %s for gml, %s for blend and itml, %s for lleratio and %s for krca", loss("gml"),
			loss("blend"), loss("lleratio"), loss("krca")),
	} {
		if !strings.Contains(readme, want) {
			t.Errorf("README.md does not say %q", want)
		}
	}
}

// TestListsAreComplete: the list of methods has every method, and the list of results every page.
func TestListsAreComplete(t *testing.T) {
	methods := readPage(t, docs+"methods/README.md")
	for _, m := range catalog.Methods() {
		if !strings.Contains(methods, "\n| `"+m.Name+"` | ") {
			t.Errorf("docs/methods/README.md has no line for %s", m.Name)
		}
	}
	results := readPage(t, docs+"results/README.md")
	pages, err := filepath.Glob(docs + "results/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(results, "]("+name+")") {
			t.Errorf("docs/results/README.md has no line for %s", name)
		}
	}
}
