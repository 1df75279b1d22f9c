package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// module returns a copy of the module of testdata under version control, committed.
func module(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS(filepath.Join("testdata", "module"))); err != nil {
		t.Fatal(err)
	}
	git(t, root, "init", "-q")
	git(t, root, "add", ".")
	git(t, root, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "all")
	return root
}

func git(t *testing.T, root string, args ...string) {
	t.Helper()
	command := exec.Command("git", args...)
	command.Dir = root
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func write(t *testing.T, root, name, content string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func usual(root string) options {
	return options{root: root, count: 1000, seed: 1, box: time.Hour, slow: 30 * time.Second, factor: 5,
		importers: 2, equivalents: "equivalents.txt"}
}

// report runs the faults and returns what was written.
func report(t *testing.T, o options, folders ...string) (survivors int, text string) {
	t.Helper()
	var w strings.Builder
	survivors, err := run(o, folders, &w)
	if err != nil {
		t.Fatal(err)
	}
	return survivors, w.String()
}

func want(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
}

// Faults that tests see are found, by the package's own tests or those of an importer; a lock only
// by the race detector; a loop without an end by its time; and the files stay as they were. Those
// that no test sees survive, unless they are known to change nothing.
func TestOutcomes(t *testing.T) {
	root := module(t)
	o := usual(root)
	o.kinds = "arithmetic,comparison,context,lock"
	survivors, text := report(t, o, "half")
	want(t, text, "killed half/half.go:13 arithmetic in Sum: sum += k => sum -= k",
		"killed half/half.go:20 arithmetic in Double: x * 2 => x / 2",
		"killed half/half.go:30 context in Wait:", "killed half/half.go:43 lock in Count:",
		"SURVIVED half/half.go:25 arithmetic in Untested: x - 3 => x + 3",
		"SURVIVED half/half.go:45 arithmetic in Count: count += 1 => count -= 1",
		"| half | 7 | 5 | 0 | 0.71 |", "| lock | 1 | 1 | 0 | 1.00 |")
	if survivors != 2 {
		t.Errorf("%d survivors:\n%s", survivors, text)
	}
	if out, err := output(root, "git", "status", "--porcelain"); err != nil || out != "" {
		t.Errorf("the files have changed: %s, %v", out, err)
	}
	write(t, root, "equivalents.txt", "# known\nhalf/half.go Untested: x - 3 => x + 3 in: return x - 3\n")
	o.kinds, o.importers = "arithmetic", 0
	survivors, text = report(t, o, "half")
	want(t, text, "SURVIVED half/half.go:20 arithmetic in Double", "| all | 3 | 1 | 0 |")
	if survivors != 2 || strings.Contains(text, "Untested") {
		t.Errorf("%d survivors without the known one:\n%s", survivors, text)
	}
	write(t, root, "before.txt", text)
	o.again, o.importers = filepath.Join(root, "before.txt"), 2
	survivors, text = report(t, o, "half")
	want(t, text, "killed half/half.go:20 arithmetic in Double", "| all | 2 | 1 | 0 |")
	if survivors != 1 {
		t.Errorf("%d survivors of the survivors:\n%s", survivors, text)
	}
}

// A loop that does not end is stopped by its time on the processors, and counts as found.
func TestHanging(t *testing.T) {
	root := module(t)
	write(t, root, "half/half.go", `package half

import "context"

func Sum(n int) int {
	sum := 0
	for {
		if n--; n < 1 {
			break
		}
		sum += n
	}
	return sum
}
func Double(x int) int { return x }
func Wait(ctx context.Context) error { return ctx.Err() }
func Count() {}
`)
	o := usual(root)
	o.kinds, o.importers = "loop", 0
	_, text := report(t, o, "half")
	want(t, text, "note: changes that are not committed, in 1 files, are tested too",
		"hung half/half.go:9 loop in Sum: break => continue", "| half | 1 | 1 | 1 | 1.00 |")
}

// What cannot be tested is said, and the rest goes on.
func TestLeftOut(t *testing.T) {
	root := module(t)
	o := usual(root)
	o.kinds, o.importers = "statement", 0
	write(t, root, "wrong/wrong.go", "package wrong\n\nfunc One() (n int) {\n\tn = 1\n\treturn n\n}\n")
	_, text := report(t, o, "wrong", "half")
	want(t, text, "note: the tests of example.org/m/wrong are left out: they fail without a fault",
		"one is not two", "1 faults that do not compile were drawn, and left out", "| half | 2 |")
	o.box = 0
	if _, text = report(t, o, "half"); !strings.Contains(text, "the time is up after 0 of 1000 faults") {
		t.Errorf("no time:\n%s", text)
	}
}

// With a commit, only lines that changed since get faults.
func TestChanged(t *testing.T) {
	root := module(t)
	o := usual(root)
	o.changed = "HEAD"
	if n, text := report(t, o); n != 0 || text != "no line of the library has changed since HEAD\n" {
		t.Errorf("%d survivors of no change:\n%s", n, text)
	}
	content, err := os.ReadFile(filepath.Join(root, "half", "half.go"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, "half/half.go", strings.Replace(string(content), "x - 3", "x - 4", 1))
	write(t, root, "half/other_test.go", "package half\n")
	n, text := report(t, o)
	want(t, text, "SURVIVED half/half.go:25 arithmetic in Untested: x - 4 => x + 4")
	if n != 3 || strings.Contains(text, "in Sum") {
		t.Errorf("%d survivors on the line, want that and two constants:\n%s", n, text)
	}
	o.changed = "nothing-of-this-name"
	if _, err := run(o, nil, &strings.Builder{}); err == nil {
		t.Error("a commit that is not there is no error")
	}
}

// The same seed draws the same faults, another one others.
func TestSeed(t *testing.T) {
	root := module(t)
	drawn := func(seed uint64) (list string) {
		packages, err := load(root, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range packages {
			p.find("", func(*mutant) bool { return true })
		}
		d := newDraw(packages, seed)
		for range 12 {
			list += fmt.Sprintln(d.next().text())
		}
		return list
	}
	if a, b, c := drawn(1), drawn(1), drawn(2); a != b || a == c {
		t.Errorf("seeds 1, 1 and 2 draw\n%s\n%s\n%s", a, b, c)
	}
}

// A score by kind counts as much as the kind has candidates.
func TestStratified(t *testing.T) {
	part := func(found, lost int) (list table) {
		for k := range found + lost {
			list = append(list, &mutant{outcome: map[bool]outcome{true: killed, false: survived}[k < found]})
		}
		return list
	}
	got, _ := stratified(map[string]table{"a": part(3, 1), "b": part(1, 1)},
		map[string]int{"a": 300, "b": 100})
	if want := (3*0.75 + 0.5) / 4; got != want {
		t.Errorf("score %v, want %v", got, want)
	}
}
