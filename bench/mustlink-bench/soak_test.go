package main

import (
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink/internal/clitest"
)

// TestSoak: a short soak finds no fault, and its report has all parts.
func TestSoak(t *testing.T) {
	dir := t.TempDir()
	r := clitest.Parse(t,
		bench.RunOK(t, dir, "soak --for 2s --goroutines 3 --workers 2 --max-growth 1e9 --json").Stdout)
	if r["fits"].(float64) < 1 || r["embeds"].(float64) < 2 || len(r["wrong"].([]any)) != 0 ||
		r["goroutines"] != 3.0 {
		t.Errorf("report %v: want fits, embeddings and no fault", r)
	}
	text := bench.RunOK(t, dir, "soak --for 1s --max-growth 1e9").Stdout
	for _, w := range []string{"fits", "errors by kind", "memory at the end", "growth", "goroutines"} {
		if !strings.Contains(text, w) {
			t.Errorf("the text does not contain %q:\n%s", w, text)
		}
	}
}

// TestSoakInterrupted: an interrupt prints the report so far.
func TestSoakInterrupted(t *testing.T) {
	cmd := bench.Command(t.TempDir(), "soak", "--for", "1h", "--json")
	var stdout clitest.Buffer
	cmd.Stdout = &stdout
	clitest.Interrupt(t, cmd, time.Second)
	if r := clitest.Parse(t, stdout.String()); r["seconds"].(float64) > 600 || r["jobs"].(float64) < 1 {
		t.Errorf("report %v: want the work of one second", r)
	}
}

func TestSoakBadInput(t *testing.T) {
	dir := t.TempDir()
	for line, words := range map[string][]string{
		"soak --for 0":          {"--for", "0s", "30m"},
		"soak --for -1s":        {"--for", "-1s"},
		"soak --for long":       {"--for", "long"},
		"soak --goroutines 0":   {"--goroutines", "0"},
		"soak --max-growth NaN": {"--max-growth", "NaN"},
		"soak here":             {"here", "flags only"},
	} {
		bench.WantInputError(t, dir, line, words...)
	}
}

// TestBuilds: a digest of this build equals itself, and the error for any other file names it.
func TestBuilds(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "a.json", bench.RunOK(t, dir, "builds -q").Stdout)
	table := bench.RunOK(t, dir, "builds a.json a.json").Stdout
	for _, row := range strings.Split(strings.TrimSuffix(table, "\n"), "\n")[5:] {
		if cells := strings.Split(row, " | "); len(cells) != 6 || cells[2] != "0" {
			t.Errorf("row %q: want no difference", row)
		}
	}
	if !strings.Contains(table, "| krca | rings |") {
		t.Errorf("no row of krca:\n%s", table)
	}
	clitest.Write(t, dir, "b.json", "{}")
	bench.WantInputError(t, dir, "builds a.json b.json", "b.json")
	bench.WantInputError(t, dir, "builds a.json none.json", "none.json")
	bench.WantInputError(t, dir, "builds a.json", "one digest")
}
