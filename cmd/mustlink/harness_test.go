package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/internal/usage"
)

// binary is the command, built once with the tags of the test.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "mustlink-test-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		// A test drops its privileges to see a read-only folder as an ordinary user.
		if err := os.Chmod(dir, 0o755); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		binary = filepath.Join(dir, "mustlink.exe")
		if out, err := exec.Command("go", "build", "-tags", tagsOfTest(), "-o", binary, ".").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// tagsOfTest returns the build tags that the test itself was built with.
func tagsOfTest() string {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			return s.Value
		}
	}
	return ""
}

// outcome is what a run of the command left behind.
type outcome struct {
	code           int
	stdout, stderr string
}

// command returns the command, to be run in dir, without the environment's choices.
func command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	return cmd
}

// start runs cmd to its end.
func finish(t *testing.T, cmd *exec.Cmd) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatalf("%v: %v", cmd.Args, err)
	} else if ok && !exit.Exited() {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, stderr.String())
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// run runs the command in dir with a line of arguments, split at spaces.
func run(t *testing.T, dir, line string) outcome {
	t.Helper()
	return finish(t, command(dir, strings.Fields(line)...))
}

// runOK is run for commands that must succeed.
func runOK(t *testing.T, dir, line string) outcome {
	t.Helper()
	return runArgs(t, dir, strings.Fields(line)...)
}

// runArgs is runOK for arguments with spaces.
func runArgs(t *testing.T, dir string, args ...string) outcome {
	t.Helper()
	o := finish(t, command(dir, args...))
	if o.code != usage.ExitOK {
		t.Fatalf("mustlink %s: exit code %d\n%s", strings.Join(args, " "), o.code, o.stderr)
	}
	return o
}

// runWith is runOK with standard input.
func runWith(t *testing.T, dir, stdin, line string) outcome {
	t.Helper()
	cmd := command(dir, strings.Fields(line)...)
	cmd.Stdin = strings.NewReader(stdin)
	o := finish(t, cmd)
	if o.code != usage.ExitOK {
		t.Fatalf("mustlink %s: exit code %d\n%s", line, o.code, o.stderr)
	}
	return o
}

// write makes a file in dir; a name that ends in .gz is compressed.
func write(t *testing.T, dir, name, content string) {
	t.Helper()
	data := []byte(content)
	if strings.HasSuffix(name, ".gz") {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(data)
		_ = z.Close()
		data = b.Bytes()
	}
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// names lists what is in dir, hidden files included.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// lines returns the lines of a text without its last line end.
func lines(text string) []string {
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// blobs returns a CSV of n points in d columns and two classes "x" and "y", 6 apart in the
// first column, with ids when asked for. Rows of odd number are of class y.
func blobs(n, d int, ids bool) string {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	var s strings.Builder
	if ids {
		s.WriteString("id,")
	}
	for j := range d {
		fmt.Fprintf(&s, "f%d,", j)
	}
	s.WriteString("label\n")
	for i := range n {
		if ids {
			fmt.Fprintf(&s, "p%d,", i)
		}
		for j := range d {
			v := rng.NormFloat64()
			if j == 0 {
				v += 6 * float64(i%2)
			}
			fmt.Fprintf(&s, "%.6f,", v)
		}
		fmt.Fprintf(&s, "%s\n", []string{"x", "y"}[i%2])
	}
	return s.String()
}

const fewLinks = "i,j,link\n0,2,must\n1,3,must\n4,6,must\n5,7,must\n0,1,cannot\n"

// workspace returns a folder with sound data (20 x 3), links and a model fitted on them.
func workspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "data.csv", blobs(20, 3, false))
	write(t, dir, "links.csv", fewLinks)
	return dir
}

func withModel(t *testing.T) string {
	t.Helper()
	dir := workspace(t)
	runOK(t, dir, "fit -q -m krca -i data.csv -c links.csv -o model.mlk")
	return dir
}

// wantInputError demands exit code 2, one line of message with all the words, and nothing
// else: no stack trace, no output, no file.
func wantInputError(t *testing.T, dir string, o outcome, before []string, words ...string) {
	t.Helper()
	if o.code != usage.ExitInput {
		t.Errorf("exit code %d: want %d", o.code, usage.ExitInput)
	}
	if list := lines(o.stderr); len(list) != 1 || !strings.HasPrefix(o.stderr, "mustlink: ") {
		t.Errorf("standard error is not one line beginning with mustlink: %q", o.stderr)
	}
	for _, w := range words {
		if !strings.Contains(o.stderr, w) {
			t.Errorf("message does not contain %q: %s", w, o.stderr)
		}
	}
	if strings.Contains(o.stderr, "goroutine ") || strings.Contains(o.stderr, ".go:") {
		t.Errorf("message holds a stack trace: %s", o.stderr)
	}
	if o.stdout != "" {
		t.Errorf("standard output is not empty: %q", o.stdout)
	}
	if after := names(t, dir); !slices.Equal(before, after) {
		t.Errorf("files before: %v, after: %v", before, after)
	}
	if t.Failed() || testing.Verbose() {
		t.Log(strings.TrimSpace(o.stderr))
	}
}

// lesson returns the flags of what a method learns from: a file of links, or for one that learns from targets a file of 0 and
// 1 in turn, which it writes for so many rows.
func lesson(t *testing.T, dir string, m catalog.Method, links string, rows int) string {
	t.Helper()
	if !m.UsesTargets {
		return "-c " + links
	}
	write(t, dir, "targets.csv", "target\n"+strings.Repeat("0\n1\n", rows/2))
	return "--targets targets.csv"
}
