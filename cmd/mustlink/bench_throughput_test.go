package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink/internal/usage"
)

const tinyThroughput = " --rounds 1 --rows 300 --stream-rows 20000 --csv-size 20kB --min-time 5ms -q"

// TestBenchThroughput: every case has its table, on the page too, with the peak of memory where it is known, and no file is left.
func TestBenchThroughput(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the clock stands still for milliseconds, longer than the small works take")
	}
	dir := t.TempDir()
	temporary := filepath.Join(dir, "tmp")
	if err := os.Mkdir(temporary, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temporary)
	write(t, dir, "p.md", benchPage())
	r := parse(t, runOK(t, dir, "bench throughput --goroutines 1,2 --page p.md --json"+tinyThroughput).stdout)
	if len(r["fits"].([]any)) != 4 || len(r["csv"].([]any)) != 2 || len(r["setup"].(map[string]any)["builds"].([]any)) != 1 {
		t.Errorf("report %v", r)
	}
	flows := r["embed"].([]any)
	for k, rows := range []float64{300, 300, 300, 20000} {
		flow := flows[k].(map[string]any)
		peak := flow["peak_bytes"].(float64)
		if flow["rows"] != rows || !(flow["rows_per_second"].(map[string]any)["median"].(float64) > 0) || runtime.GOOS == "linux" && !(peak > 1<<20 && peak < 1<<30) {
			t.Errorf("flow %v: want %v rows, and the peak of the command", flow, rows)
		}
	}
	page := read(t, dir, "p.md")
	for _, words := range []string{"krca.FitMetric", "GOGC=100", "the latest 1000 models kept", "single precision", "kbeta, basic form", "file to file", "from a pipe", "10 columns, 17 digits", "(pictures/bench-throughput.svg)"} {
		if !strings.Contains(page, words) {
			t.Errorf("no %q on the page\n%s", words, page)
		}
	}
	if left := names(t, temporary); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestBenchThroughputInterrupted: an interrupt ends the stream and what reads it, and removes the files.
func TestBenchThroughputInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupts between processes")
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	cmd := command(dir, "bench", "throughput", "--case", "stream", "--stream-rows", "1000000000000")
	var stderr lockedBuffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != usage.ExitInterrupted || stderr.b.String() != "mustlink: interrupted\n" {
		t.Errorf("exit code %d, message %q: want %d", cmd.ProcessState.ExitCode(), stderr.b.String(), usage.ExitInterrupted)
	}
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestBenchThroughputBadInput(t *testing.T) {
	dir := t.TempDir()
	before := names(t, dir)
	for line, words := range map[string][]string{
		"throughput --case krac":                   {"--case", "krac", "krca"},
		"throughput --goroutines 2,4":              {"--goroutines", "from 1"},
		"throughput --goroutines 1,1":              {"--goroutines", "increasing"},
		"throughput --goroutines one":              {"--goroutines", "one", "whole numbers, separated by commas"},
		"throughput --rounds 0":                    {"--rounds", "0"},
		"throughput --rows 0":                      {"--rows", "0"},
		"throughput --stream-rows -5":              {"--stream-rows", "-5"},
		"throughput --csv-size many":               {"--csv-size", "many"},
		"throughput --csv-size 0":                  {"--csv-size", "0"},
		"throughput --threads -1":                  {"--threads", "-1"},
		"throughput --min-time -1s":                {"--min-time", "-1s"},
		"throughput -o x.txt":                      {"x.txt", ".md"},
		"throughput --page none.md":                {"none.md"},
		"throughput here":                          {"here", "flags only"},
		"time":                                     {"COMMAND"},
		"time -- embde":                            {"embde", "embed"},
		"time -o none/x.json -- info":              {"none"},
		"time -- embed none.mlk -i x.npy -o y.npy": {"none.mlk"},
	} {
		wantInputError(t, dir, run(t, dir, "bench "+line), before, words...)
	}
}

// TestBenchTime: a command's own output stays what it is, and what it took goes to standard error or to a file.
func TestBenchTime(t *testing.T) {
	dir := withModel(t)
	plain := runOK(t, dir, "embed model.mlk -i data.csv -o - -q")
	o := runOK(t, dir, "bench time -- embed model.mlk -i data.csv -o - -q")
	if o.stdout != plain.stdout || !strings.Contains(o.stderr, "seconds") {
		t.Errorf("standard output of %d bytes, want %d; standard error %q", len(o.stdout), len(plain.stdout), o.stderr)
	}
	runOK(t, dir, "bench time -o t.json -- embed model.mlk -i data.csv -o y.npy")
	r := parse(t, read(t, dir, "t.json"))
	if !(r["seconds"].(float64) > 0) || runtime.GOOS == "linux" && !(r["peak_bytes"].(float64) > 1<<20) {
		t.Errorf("report %v", r)
	}
}
