// Package clitest runs the built programs of this project in tests, and checks their output and
// files.
package clitest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mustlink/mustlink/internal/gziptest"
	"github.com/mustlink/mustlink/internal/usage"
)

// Program is an executable under test.
type Program struct {
	Name string // as it calls itself
	Path string
}

// Build builds the package in a folder, with the tags of the test, into another folder.
func Build(name, source, folder string) (Program, error) {
	p := Program{name, filepath.Join(folder, name+".exe")}
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-tags", Tags(), "-o", p.Path, ".")
	cmd.Dir = source
	if out, err := cmd.CombinedOutput(); err != nil {
		return p, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return p, nil
}

// Main builds the program in the folder source, runs the tests, and returns their exit code.
func Main(m *testing.M, name, source string, p *Program) int {
	dir, err := os.MkdirTemp("", name+"-test-")
	if err == nil {
		defer os.RemoveAll(dir)
		// A test may drop its privileges to see a read-only folder as an ordinary user.
		err = os.Chmod(dir, 0o755)
	}
	if err == nil {
		*p, err = Build(name, source, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Tags returns the build tags of the test itself.
func Tags() string {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			return s.Value
		}
	}
	return ""
}

// Outcome is the exit code and the output of a run.
type Outcome struct {
	Code           int
	Stdout, Stderr string
}

// Finish runs cmd to its end.
func Finish(t testing.TB, cmd *exec.Cmd) Outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatalf("%v: %v", cmd.Args, err)
	} else if ok && !exit.Exited() {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, stderr.String())
	}
	return Outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// Command returns the program, to be run in dir.
func (p Program) Command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(p.Path, args...)
	cmd.Dir = dir
	return cmd
}

// Run runs the program in dir with a line of arguments, split at spaces.
func (p Program) Run(t testing.TB, dir, line string) Outcome {
	t.Helper()
	return Finish(t, p.Command(dir, strings.Fields(line)...))
}

// RunOK is Run for commands that must succeed.
func (p Program) RunOK(t testing.TB, dir, line string) Outcome {
	t.Helper()
	return p.RunArgs(t, dir, strings.Fields(line)...)
}

// RunArgs is RunOK for arguments with spaces.
func (p Program) RunArgs(t testing.TB, dir string, args ...string) Outcome {
	t.Helper()
	o := Finish(t, p.Command(dir, args...))
	if o.Code != usage.ExitOK {
		t.Fatalf("%s %s: exit code %d\n%s", p.Name, strings.Join(args, " "), o.Code, o.Stderr)
	}
	return o
}

// RunWith is RunOK with standard input.
func (p Program) RunWith(t testing.TB, dir, stdin, line string) Outcome {
	t.Helper()
	cmd := p.Command(dir, strings.Fields(line)...)
	cmd.Stdin = strings.NewReader(stdin)
	o := Finish(t, cmd)
	if o.Code != usage.ExitOK {
		t.Fatalf("%s %s: exit code %d\n%s", p.Name, line, o.Code, o.Stderr)
	}
	return o
}

// WantInputError runs a line that must end with exit code 2 and a one-line message with all the
// words: without a stack trace, output or a new file.
func (p Program) WantInputError(t testing.TB, dir, line string, words ...string) {
	t.Helper()
	p.WantInputErrorOf(t, p.Command(dir, strings.Fields(line)...), words...)
}

// WantInputErrorOf is WantInputError for a command.
func (p Program) WantInputErrorOf(t testing.TB, cmd *exec.Cmd, words ...string) {
	t.Helper()
	before := Names(t, cmd.Dir)
	p.CheckInputError(t, cmd.Dir, Finish(t, cmd), before, words...)
	if t.Failed() {
		t.Logf("of %s", strings.Join(cmd.Args[1:], " "))
	}
}

// CheckInputError checks a run in dir as WantInputError does; before are the files that existed
// before it.
func (p Program) CheckInputError(t testing.TB, dir string, o Outcome, before []string, words ...string) {
	t.Helper()
	if o.Code != usage.ExitInput {
		t.Errorf("exit code %d: want %d", o.Code, usage.ExitInput)
	}
	if strings.Count(o.Stderr, "\n") != 1 || !strings.HasPrefix(o.Stderr, p.Name+": ") {
		t.Errorf("standard error is not one line beginning with %s: %q", p.Name, o.Stderr)
	}
	for _, w := range words {
		if !strings.Contains(o.Stderr, w) {
			t.Errorf("message does not contain %q: %s", w, o.Stderr)
		}
	}
	if strings.Contains(o.Stderr, "goroutine ") || strings.Contains(o.Stderr, ".go:") {
		t.Errorf("message contains a stack trace: %s", o.Stderr)
	}
	if o.Stdout != "" {
		t.Errorf("standard output is not empty: %q", o.Stdout)
	}
	if after := Names(t, dir); !slices.Equal(before, after) {
		t.Errorf("files before: %v, after: %v", before, after)
	}
	if t.Failed() || testing.Verbose() {
		t.Log(strings.TrimSpace(o.Stderr))
	}
}

// Write creates a file in dir; it compresses one whose name ends in .gz.
func Write(t testing.TB, dir, name, content string) {
	t.Helper()
	data := []byte(content)
	if strings.HasSuffix(name, ".gz") {
		data = gziptest.Zip(data)
	}
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Read returns the content of a file in dir.
func Read(t testing.TB, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Names lists the files in dir, including hidden ones.
func Names(t testing.TB, dir string) []string {
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

// Lines returns the lines of a text without its last line end.
func Lines(text string) []string {
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// Blobs returns a CSV of n points in d columns and two classes "x" and "y", 6 apart in the first
// column, optionally with ids. Rows with odd numbers are of class y.
func Blobs(n, d int, ids bool) string {
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

// Parse decodes a text that contains one JSON value.
func Parse(t testing.TB, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return v
}

// Buffer is a buffer that a program may write to from its own goroutine.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *Buffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String returns what has been written.
func (l *Buffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
