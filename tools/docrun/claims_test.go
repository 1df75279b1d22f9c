package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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

// short returns numbers as choosing.md writes them: .645 / .659 for 0.645 / 0.659.
func short(cell string) string { return strings.ReplaceAll(cell, "0.", ".") }

// TestChoosingCopiesResults: the tables of choosing.md have the numbers of the results, and so have
// the limits of README.
func TestChoosingCopiesResults(t *testing.T) {
	choosing := readPage(t, docs+"choosing.md")
	shown := tables(choosing)
	cross, curves := tables(readPage(t, docs+"results/cross.md")),
		tables(readPage(t, docs+"results/curves.md"))
	compared := 0
	check := func(row, column string, results map[[2]string]string, of string) {
		got, is := shown[[2]string{row, column}]
		if !is {
			return
		}
		if want := short(results[[2]string{row, of}]); got != want {
			t.Errorf("%s, %s is %s: want %s, as in the results", row, column, got, want)
		}
		compared++
	}
	rows := []string{"raw points"}
	for _, m := range catalog.Methods() {
		rows = append(rows, m.Name)
	}
	for _, row := range rows {
		check(row, "training rows", cross, "balanced Rand, training")
		check(row, "held-out rows", cross, "balanced Rand, held-out")
		check(row, "5-NN accuracy, held-out rows", cross, "5-NN accuracy, held-out")
		check(row, "mean average precision, held-out rows", cross, "MAP, held-out")
		for _, links := range []string{"10", "50", "100", "200", "500", "2000"} {
			check(row, links, curves, links+" links")
		}
		check(row, "none", curves, "0 % wrong")
		for _, share := range []string{"5 %", "10 %", "20 %", "30 %"} {
			check(row, share, curves, share+" wrong")
		}
	}
	if compared < 80 {
		t.Errorf("%d numbers compared: want those of three tables", compared)
	}
	readme := strings.Join(strings.Fields(readPage(t, "../../README.md")), " ")
	for _, want := range []string{
		fmt.Sprintf("(mean balanced Rand index %s, %s, %s, %s; raw %s)",
			heldOut(cross, "blend"), heldOut(cross, "lleratio"), heldOut(cross, "krca"),
			heldOut(cross, "kbeta"), heldOut(cross, "raw points")),
		fmt.Sprintf("falls by %s for gml, %s for blend and itml, %s for lleratio and %s for krca",
			loss(t, curves, "gml"), loss(t, curves, "blend"), loss(t, curves, "lleratio"),
			loss(t, curves, "krca")),
	} {
		if !strings.Contains(readme, want) {
			t.Errorf("README.md does not say %q", want)
		}
	}
}

// heldOut returns the balanced Rand index of held-out rows in the cross table.
func heldOut(cross map[[2]string]string, row string) string {
	return short(cross[[2]string{row, "balanced Rand, held-out"}])
}

// loss returns what a tenth of wrong links costs on held-out rows.
func loss(t *testing.T, curves map[[2]string]string, row string) string {
	t.Helper()
	var value [2]float64
	for i, column := range []string{"0 % wrong", "10 % wrong"} {
		_, text, _ := strings.Cut(curves[[2]string{row, column}], " / ")
		var err error
		if value[i], err = strconv.ParseFloat(text, 64); err != nil {
			t.Fatal(err)
		}
	}
	return short(fmt.Sprintf("%.3f", value[0]-value[1]))
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
