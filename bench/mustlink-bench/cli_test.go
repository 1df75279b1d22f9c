package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/internal/clitest"
	"github.com/mustlink/mustlink/internal/usage"
)

// TestHelp: the help of every command has its usage and an example, and the program prints its
// version and its build.
func TestHelp(t *testing.T) {
	dir := t.TempDir()
	for _, name := range strings.Split(
		"paper,cross,curves,wrong,hindsight,suggest,plot,micro,peers,methods,throughput,builds,soak,time,serve,info", ",") {
		help := bench.RunOK(t, dir, name+" --help").Stdout
		for _, w := range []string{"Usage:\n  mustlink-bench " + name, "Examples:\n  mustlink-bench "} {
			if !strings.Contains(help, w) {
				t.Errorf("help of %s does not contain %q", name, w)
			}
		}
	}
	if o := bench.RunOK(t, dir, "--version"); !strings.HasPrefix(o.Stdout, "mustlink-bench ") {
		t.Errorf("--version prints %q", o.Stdout)
	}
	if o := bench.RunOK(t, dir, ""); !strings.Contains(o.Stdout, "Usage:") {
		t.Errorf("no arguments print %q", o.Stdout)
	}
	var tags []string
	for _, tag := range clitest.Parse(t, bench.RunOK(t, dir, "info --json").Stdout)["build_tags"].([]any) {
		tags = append(tags, tag.(string))
	}
	if got := strings.Join(tags, ","); got != clitest.Tags() {
		t.Errorf("build tags %q: want %q", got, clitest.Tags())
	}
}

// TestCompletion: shells complete tables, methods and cases.
func TestCompletion(t *testing.T) {
	dir := t.TempDir()
	for word, args := range map[string][]string{
		"tsang-1": {"paper", ""}, "krca": {"methods", "--methods", ""}, "gemm": {"micro", "--case", ""},
		"stream": {"throughput", "--case", ""}, "svg": {"plot", "--format", ""},
	} {
		o := clitest.Finish(t, bench.Command(dir, append([]string{"__complete"}, args...)...))
		if o.Code != usage.ExitOK || !strings.Contains(o.Stdout, word) {
			t.Errorf("completions of %q: %q: want %q among them", args, o.Stdout, word)
		}
	}
	if o := bench.RunOK(t, dir, "completion bash"); !strings.Contains(o.Stdout, "__start_mustlink-bench") {
		t.Error("completion bash prints no script")
	}
}

// TestReference: the help is written as a page and as manual pages.
func TestReference(t *testing.T) {
	dir := t.TempDir()
	bench.RunOK(t, dir, "reference --markdown cli.md")
	if page := clitest.Read(t, dir, "cli.md"); !strings.Contains(page, "## mustlink-bench paper") ||
		strings.Contains(page, "Topics:") {
		t.Errorf("the page begins with %.200q", page)
	}
	bench.RunOK(t, dir, "reference --man .")
	if page := clitest.Read(t, filepath.Join(dir, "man1"), "mustlink-bench-paper.1"); !strings.HasPrefix(page,
		".TH MUSTLINK-BENCH-PAPER 1") {
		t.Errorf("the manual page begins with %.80q", page)
	}
}
