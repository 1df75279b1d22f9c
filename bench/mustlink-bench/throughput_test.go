package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/usage"
)

const tinyThroughput = " --rounds 1 --rows 300 --stream-rows 20000 --csv-size 20kB --min-time 5ms -q"

// TestThroughput: every case has its table, also on the page, with the maximum memory where it is
// known, and no file is left behind.
func TestThroughput(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the clock stands still for milliseconds, longer than the small works take")
	}
	dir := t.TempDir()
	temporary := filepath.Join(dir, "tmp")
	if err := os.Mkdir(temporary, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temporary)
	clitest.Write(t, dir, "p.md", benchPage())
	r := clitest.Parse(t,
		bench.RunOK(t, dir, "throughput --goroutines 1,2 --page p.md --json --mustlink "+mustlink(
			t).Path+tinyThroughput).Stdout)
	if len(r["fits"].([]any)) != 4 || len(r["csv"].([]any)) != 2 ||
		len(r["setup"].(map[string]any)["builds"].([]any)) != 1 {
		t.Errorf("report %v", r)
	}
	flows := r["embed"].([]any)
	for k, rows := range []float64{300, 300, 300, 20000} {
		flow := flows[k].(map[string]any)
		peak := flow["peak_bytes"].(float64)
		if flow["rows"] != rows || !(flow["rows_per_second"].(map[string]any)["median"].(float64) > 0) ||
			runtime.GOOS == "linux" && !(peak > 1<<20 && peak < 1<<30) {
			t.Errorf("flow %v: want %v rows, and the peak of the command", flow, rows)
		}
	}
	page := clitest.Read(t, dir, "p.md")
	for _, words := range []string{"krca.FitMetric", "GOGC=100", "the latest 1000 models kept",
		"single precision", "kbeta, basic form", "file to file", "from a pipe", "10 columns, 17 digits",
		"(pictures/bench-throughput.svg)"} {
		if !strings.Contains(page, words) {
			t.Errorf("no %q on the page\n%s", words, page)
		}
	}
	if left := clitest.Names(t, temporary); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestThroughputInterrupted: an interrupt ends the stream and its reader, and removes the files.
func TestThroughputInterrupted(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	cmd := bench.Command(dir, "throughput", "--case", "stream", "--stream-rows", "1000000000000",
		"--mustlink", mustlink(t).Path)
	var stderr clitest.Buffer
	cmd.Stderr = &stderr
	clitest.Interrupt(t, cmd, 2*time.Second)
	if stderr.String() != "mustlink-bench: interrupted\n" {
		t.Errorf("message %q", stderr.String())
	}
	if left := clitest.Names(t, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestThroughputBadInput(t *testing.T) {
	dir := t.TempDir()
	for line, words := range map[string][]string{
		"throughput --case krac":      {"--case", "krac", "krca"},
		"throughput --goroutines 2,4": {"--goroutines", "from 1"},
		"throughput --goroutines 1,1": {"--goroutines", "increasing"},
		"throughput --goroutines one": {"--goroutines", "one", "whole numbers, separated by commas"},
		"throughput --rounds 0":       {"--rounds", "0"},
		"throughput --rows 0":         {"--rows", "0"},
		"throughput --stream-rows -5": {"--stream-rows", "-5"},
		"throughput --csv-size many":  {"--csv-size", "many"},
		"throughput --csv-size 0":     {"--csv-size", "0"},
		"throughput --threads -1":     {"--threads", "-1"},
		"throughput --min-time -1s":   {"--min-time", "-1s"},
		"throughput -o x.txt":         {"x.txt", ".md"},
		"throughput --page none.md":   {"none.md"},
		"throughput here":             {"here", "flags only"},
		"throughput --mustlink none":  {"--mustlink", "none", "make build"},
	} {
		bench.WantInputError(t, dir, line, words...)
	}
}

// TestThroughputWithoutMustlink: if the program is not found, the cases that need it report how to
// build it; the others run.
func TestThroughputWithoutMustlink(t *testing.T) {
	dir := t.TempDir()
	in := func(arguments string) *exec.Cmd {
		cmd := bench.Command(dir, strings.Fields("throughput"+tinyThroughput+arguments)...)
		cmd.Env = append(os.Environ(), "PATH="+dir)
		return cmd
	}
	bench.WantInputErrorOf(t, in(" --case stream"), "--mustlink", "PATH", "make build")
	if o := clitest.Finish(t, in(" --case csv")); o.Code != usage.ExitOK {
		t.Errorf("exit code %d: %s", o.Code, o.Stderr)
	}
}

// TestTime: the output of a command does not change, and its time and memory go to standard error
// or to a file.
func TestTime(t *testing.T) {
	dir := t.TempDir()
	program := mustlink(t)
	clitest.Write(t, dir, "data.csv", clitest.Blobs(20, 3, false))
	line := "links make -i data.csv --pairs 4 -o -"
	plain := program.RunOK(t, dir, line)
	o := bench.RunOK(t, dir, "time -- "+program.Path+" "+line)
	if o.Stdout != plain.Stdout || !strings.Contains(o.Stderr, "seconds") {
		t.Errorf("standard output of %d bytes, want %d; standard error %q", len(o.Stdout), len(plain.Stdout),
			o.Stderr)
	}
	bench.RunOK(t, dir, "time -o t.json -- "+program.Path+" info")
	r := clitest.Parse(t, clitest.Read(t, dir, "t.json"))
	if !(r["seconds"].(float64) > 0) || runtime.GOOS == "linux" && !(r["peak_bytes"].(float64) > 1<<20) {
		t.Errorf("report %v", r)
	}
	for line, words := range map[string][]string{
		"time":                           {"COMMAND"},
		"time -- none info":              {"COMMAND", "none", "PATH"},
		"time -o none/x.json -- go help": {"none"},
	} {
		bench.WantInputError(t, dir, line, words...)
	}
	// The message of a failed command comes before that of this program.
	o = bench.Run(t, dir, "time -- "+program.Path+" embed none.mlk -i x.npy -o y.npy")
	if o.Code != usage.ExitFailed || !strings.Contains(o.Stderr, "none.mlk") ||
		!strings.HasSuffix(o.Stderr, "exit status 2\n") || strings.Contains(o.Stderr, "seconds") {
		t.Errorf("exit code %d, standard error %q", o.Code, o.Stderr)
	}
}
