package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mustlink/mustlink/internal/clitest"
)

const tinySizes = " --sizes 30,45,60 --features 2,3,4 --links 10,20,30 --rounds 1 -q"

// benchPage returns a page with the parts that bench commands fill.
func benchPage() string {
	text := "# Page\n"
	for _, part := range []string{"bench-methods", "bench-builds", "bench-throughput"} {
		text += "\nwords\n<!-- " + part + " -->\nold\n<!-- end of " + part + " -->\n"
	}
	return text
}

// TestMethods: the table of growth is written in every format, and on its part of a page with the
// picture.
func TestMethods(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the clock stands still for milliseconds, longer than the small works take")
	}
	dir := t.TempDir()
	clitest.Write(t, dir, "p.md", benchPage())
	text := bench.RunOK(t, dir, "methods --methods rca,kpca"+tinySizes).Stdout
	for _, words := range []string{"logical CPUs; threads: ", "- " + buildOfTest() + ": ",
		"| rca | n=60 d=3 links=20 | ", "| kpca | n=60 d=3 links=20 | "} {
		if !strings.Contains(text, words) {
			t.Errorf("no %q in\n%s", words, text)
		}
	}
	bench.RunOK(t, dir, "methods --methods rca --state s.json --page p.md"+tinySizes)
	page := clitest.Read(t, dir, "p.md")
	if !strings.Contains(page, "| rca | n=60") || !strings.Contains(page, "(pictures/bench-methods.svg)") ||
		strings.Count(page, "old") != 2 || strings.Count(page, "words") != 3 {
		t.Errorf("the page is\n%s", page)
	}
	if !strings.Contains(clitest.Read(t, filepath.Join(dir, "pictures"), "bench-methods.svg"), "<svg") {
		t.Error("no picture next to the page")
	}
	bench.RunOK(t, dir, "methods --methods rca --state s.json -o o.json"+tinySizes)
	r := clitest.Parse(t, clitest.Read(t, dir, "o.json"))
	growth := r["growth"].([]any)
	if len(growth) != 1 || len(r["figures"].([]any)) != 7 ||
		len(growth[0].(map[string]any)["growth"].([]any)) != 3 {
		t.Errorf("report %v: want seven measurements and three exponents", r)
	}
	for _, name := range []string{"o.md", "o.svg"} {
		bench.RunOK(t, dir, "methods --methods rca --state s.json -o "+name+tinySizes)
		if clitest.Read(t, dir, name) == "" {
			t.Errorf("%s is empty", name)
		}
	}
}

// buildOfTest returns the name of the build under test.
func buildOfTest() string {
	for _, tag := range strings.Split(clitest.Tags(), ",") {
		if tag == "netlib" || tag == "purego" {
			return tag
		}
	}
	return "default"
}

// TestMethodsBuilds: executables take turns, and two copies of one build get different names.
func TestMethodsBuilds(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "p.md", benchPage())
	other := "other.exe"
	if err := os.Link(bench.Path, filepath.Join(dir, other)); err != nil {
		t.Skip("no links between files: ", err)
	}
	before := "methods --methods rca,npk --sizes 40,60 --rounds 1 -q --state s.json --builds " + bench.Path +
		"," + filepath.Join(dir, other)
	r := clitest.Parse(t, bench.RunOK(t, dir, before+" --json").Stdout)
	ratios := r["ratios"].([]any)
	if len(ratios) != 4 || len(r["figures"].([]any)) != 4 {
		t.Fatalf("report %v: want two methods with two sizes", r)
	}
	for _, x := range ratios {
		ratio := x.(map[string]any)
		if ratio["build"] != other || !(ratio["ratio"].(map[string]any)["median"].(float64) > 0) {
			t.Errorf("ratio %v", ratio)
		}
	}
	state := clitest.Read(t, dir, "s.json")
	bench.RunOK(t, dir, before+" --page p.md")
	if page := clitest.Read(t, dir, "p.md"); !strings.Contains(page, other+" / ") ||
		strings.Count(page, "old") != 2 || !strings.Contains(page, "(pictures/bench-builds.svg)") {
		t.Errorf("the page is\n%s", page)
	}
	if clitest.Read(t, dir, "s.json") != state {
		t.Error("a second run has measured again")
	}
}

// TestMethodsInterrupted: an interrupt ends fits in this program and in other builds, leaves no
// processes, and keeps finished work.
func TestMethodsInterrupted(t *testing.T) {
	for _, builds := range []string{"", "--builds=" + bench.Path + "," + bench.Path} {
		dir := t.TempDir()
		cmd := bench.Command(dir, "methods", "--methods", "rca,klein", "--sizes", "2000,4000,6000",
			"--rounds", "100", "--state", "s.json")
		if builds != "" {
			cmd.Args = append(cmd.Args, builds)
		}
		var stderr clitest.Buffer
		cmd.Stderr = &stderr
		if took := clitest.Interrupt(t, cmd, time.Second); took > 20*time.Second {
			t.Errorf("%s: ended after %v: want soon", builds, took)
		}
		if text := stderr.String(); text != "mustlink-bench: interrupted\n" {
			t.Errorf("%s: message %q", builds, text)
		}
		if left := clitest.Names(t, dir); len(left) > 1 {
			t.Errorf("%s: left behind %v", builds, left)
		}
	}
}

func TestMethodsBadInput(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "p.md", "no parts")
	clitest.Write(t, dir, "s.json", `{"setup":{}}`)
	clitest.Write(t, dir, "torn.json", `{"setup"`)
	for line, words := range map[string][]string{
		"--methods krac":                         {"--methods", "krac", "krca"},
		"--methods krca,":                        {"--methods", "a method"},
		"--sizes 100,200":                        {"--sizes", "three"},
		"--sizes 300,200,100":                    {"--sizes", "increasing"},
		"--features 0,1,2":                       {"--features"},
		"--links 1,2":                            {"--links", "three"},
		"--rounds 0":                             {"--rounds", "0"},
		"--threads -1":                           {"--threads", "-1"},
		"--builds " + bench.Path:                 {"--builds", "two"},
		"--builds none,none":                     {"--builds", "none"},
		"--builds /bin/echo,/bin/echo":           {"--builds", "echo", "mustlink-bench"},
		"--builds a,b --links 10,20,30":          {"--links", "--builds"},
		"--builds a,b --sizes 3":                 {"--sizes", "3"},
		"-o x.txt":                               {"x.txt", ".md"},
		"--page p.md":                            {"p.md", "<!-- bench-methods -->"},
		"--page none.md":                         {"none.md"},
		"--state -":                              {"--state"},
		"--state s.json --methods rca":           {"s.json", "another"},
		"--state torn.json --methods rca":        {"torn.json", "state file"},
		"here":                                   {"here", "flags only"},
		"--methods rca --links 10,20,9999999 -q": {"rca", "9999999"},
	} {
		bench.WantInputError(t, dir, "methods "+line, words...)
	}
}
