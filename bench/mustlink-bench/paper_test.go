package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/internal/clitest"
)

// TestPaper: a table runs, resumes from its state file and is written to files.
func TestPaper(t *testing.T) {
	dir := t.TempDir()
	if o := bench.RunOK(t, dir, "paper --list"); !strings.Contains(o.Stdout, "tsang-1") {
		t.Errorf("the list is %q", o.Stdout)
	}
	first := clitest.Parse(t,
		bench.RunOK(t, dir, "paper tsang-1 --repetitions 4 --state trials.jsonl --json").Stdout)
	again := clitest.Parse(t,
		bench.RunOK(t, dir, "paper tsang-1 --repetitions 6 --state trials.jsonl -o table.json --json").Stdout)
	if first["resumed"] != 0.0 || again["resumed"] != 4.0 {
		t.Errorf("resumed %v trials, then %v: want 0, then 4", first["resumed"], again["resumed"])
	}
	clitest.Parse(t, clitest.Read(t, dir, "table.json"))
	bench.RunOK(t, dir, "paper tsang-1 --repetitions 2 -q -o table.md")
	if page := clitest.Read(t, dir, "table.md"); !strings.Contains(page, "| kernel RCA |") {
		t.Errorf("the page is %q", page)
	}
	for line, word := range map[string]string{
		"paper tsang-9":                              "tsang-1",
		"paper tsang-1 --repetitions 0":              "--repetitions",
		"paper tsang-1 --repetitions 2 -o x.txt":     ".md",
		"paper --repetitions 2":                      "TABLE",
		"paper tsang-1 --state table.md -o table.md": "table.md",
		"paper tsang-1 --printed .":                  "tsang-1.csv",
		"paper tsang-1 --printed nowhere":            "tsang-1.csv",
	} {
		bench.WantInputError(t, dir, line, word)
	}
}

// TestPaperData: a table on data sets requires their folder, and its error names the missing file.
// The flag --data overrides the environment variable.
func TestPaperData(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		line, variable string
		words          []string
	}{
		{"paper tsang-4", "", []string{"--data", "MUSTLINK_DATA", "usps.csv.gz"}},
		{"paper tsang-4", "here", []string{filepath.Join("here", "usps.csv.gz")}},
		{"paper tsang-4 --data there", "here", []string{filepath.Join("there", "usps.csv.gz")}},
		{"paper --data there", "", []string{"--data", "TABLE"}},
		{"paper all -o out", "", []string{"--data", "MUSTLINK_DATA", "mnist"}},
		{"cross", "", []string{"--data", "MUSTLINK_DATA"}},
		{"curves", "", []string{"--data", "MUSTLINK_DATA"}},
		{"wrong", "", []string{"--data", "MUSTLINK_DATA"}},
		{"hindsight", "", []string{"--data", "MUSTLINK_DATA"}},
		{"suggest", "", []string{"--data", "MUSTLINK_DATA", "iris.csv"}},
	} {
		cmd := bench.Command(dir, strings.Fields(c.line)...)
		cmd.Env = append(os.Environ(), "MUSTLINK_DATA="+c.variable)
		bench.WantInputErrorOf(t, cmd, c.words...)
	}
	if o := bench.RunOK(t, dir, "paper --list"); !strings.Contains(o.Stdout, "letter.csv.gz") {
		t.Errorf("the list does not name the files of tsang-4: %q", o.Stdout)
	}
}
