package main

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink/internal/usage"
)

// TestBenchSoak: a short soak finds nothing, and a growth that no program keeps below is a failure.
func TestBenchSoak(t *testing.T) {
	dir := t.TempDir()
	r := parse(t, runOK(t, dir, "bench soak --for 2s --goroutines 3 --workers 2 --max-growth 1e9 --json").stdout)
	if r["fits"].(float64) < 1 || r["embeds"].(float64) < 2 || len(r["wrong"].([]any)) != 0 || r["goroutines"] != 3.0 {
		t.Errorf("report %v: want fits, embeddings and no fault", r)
	}
	text := runOK(t, dir, "bench soak --for 1s --max-growth 1e9").stdout
	for _, w := range []string{"fits", "errors by kind", "memory at the end", "growth", "goroutines"} {
		if !strings.Contains(text, w) {
			t.Errorf("the text does not contain %q:\n%s", w, text)
		}
	}
}

// TestBenchSoakInterrupted: an interrupt prints the report so far.
func TestBenchSoakInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupts between processes")
	}
	cmd := command(t.TempDir(), "bench", "soak", "--for", "1h", "--json")
	var stdout lockedBuffer
	cmd.Stdout = &stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != usage.ExitInterrupted {
		t.Errorf("exit code %d: want %d", cmd.ProcessState.ExitCode(), usage.ExitInterrupted)
	}
	if r := parse(t, stdout.b.String()); r["seconds"].(float64) > 600 || r["jobs"].(float64) < 1 {
		t.Errorf("report %v: want what was done in a second", r)
	}
}

func TestBenchSoakBadInput(t *testing.T) {
	dir := t.TempDir()
	for line, words := range map[string][]string{
		"bench soak --for 0":          {"--for", "0s", "30m"},
		"bench soak --for -1s":        {"--for", "-1s"},
		"bench soak --for long":       {"--for", "long"},
		"bench soak --goroutines 0":   {"--goroutines", "0"},
		"bench soak --max-growth NaN": {"--max-growth", "NaN"},
		"bench soak here":             {"here", "flags only"},
	} {
		wantInputError(t, dir, run(t, dir, line), nil, words...)
	}
}

// TestBenchBuilds: a digest of this build against itself differs nowhere; what is none is refused by name.
func TestBenchBuilds(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.json", runOK(t, dir, "bench builds -q").stdout)
	table := runOK(t, dir, "bench builds a.json a.json").stdout
	for _, row := range lines(table)[5:] {
		if cells := strings.Split(row, " | "); len(cells) != 6 || cells[2] != "0" {
			t.Errorf("row %q: want no difference", row)
		}
	}
	if !strings.Contains(table, "| krca | rings |") {
		t.Errorf("no row of krca:\n%s", table)
	}
	write(t, dir, "b.json", "{}")
	before := names(t, dir)
	wantInputError(t, dir, run(t, dir, "bench builds a.json b.json"), before, "b.json")
	wantInputError(t, dir, run(t, dir, "bench builds a.json none.json"), before, "none.json")
	wantInputError(t, dir, run(t, dir, "bench builds a.json"), before, "one digest")
}
