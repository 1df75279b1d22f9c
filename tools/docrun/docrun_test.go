package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		shown, printed string
		want           bool
	}{
		{"a\nb", "a\nb", true},
		{"a\nb", "a", false},
		{"a", "a\nb", false},
		{"a\n...\nd", "a\nb\nc\nd", true},
		{"a\n...", "a", true},
		{"a\n...\nd", "a\nb\nc", false},
		{"rand  0.8715", "rand 0.8716", true},
		{"rand  0.8715", "rand 0.8915", false},
		{"sizes 102 73", "sizes 102 73", true},
		{"sizes 102 73", "sizes 103 73", false},
		{"sizes 102 73", "sizes 102.0 73", false},
		{"tol 1e-3", "tol 1e-3", true},
		{"time 7ms", "time 1.3s", true},
		{"time 7ms", "time none", false},
		{"7 rows", "8 rows", false},
		{"model ... converged", "model x y converged", true},
		{"model ... converged", "model x y", false},
		{"ARI -0.002", "ARI 0.002", true},
		{"ARI 0.5", "ARI NaN", false},
	} {
		if got := matches(splitLines(c.shown), splitLines(c.printed)); got != c.want {
			t.Errorf("shown %q, printed %q: %v, want %v", c.shown, c.printed, got, c.want)
		}
	}
}

func TestBlocks(t *testing.T) {
	page := "text\n<!-- run: skip, it takes an hour -->\n\n```sh\nsleep 3600\n```\n<!-- run: data a.csv, " +
		"b.csv.gz as c.csv -->\n<!-- run: code 2 -->\n```console\n$ a \\\n> b\nx\n$ c\n```\n"
	found, err := blocks(page)
	if err != nil || len(found) != 2 {
		t.Fatalf("%d blocks, error %v: want 2 and none", len(found), err)
	}
	if found[0].mark.skip != "it takes an hour" || found[0].line != 4 {
		t.Errorf("first block %+v", found[0])
	}
	second := found[1]
	if second.mark.code != 2 || len(second.mark.data) != 2 ||
		second.mark.data[1] != (dataFile{"b.csv.gz", "c.csv"}) || second.mark.skip != "" {
		t.Errorf("mark of the second block %+v", second.mark)
	}
	list, err := second.commands()
	if err != nil || len(list) != 2 || list[0].text != "a \\\nb" || len(list[0].shown) != 1 ||
		len(list[1].shown) != 0 {
		t.Errorf("commands %+v, error %v", list, err)
	}
}

func TestBlocksRefuse(t *testing.T) {
	for _, c := range []struct{ page, want string }{
		{"```sh\nx\n", "not closed"},
		{"<!-- run: skip, why -->\ntext\n```sh\n```\n", "line 2: a run mark has no block"},
		{"```sh\n```\n<!-- run: skip, why -->\n", "at the end"},
		{"<!-- run: never -->\n```sh\n```\n", "not of the form"},
		{"<!-- run: often enough -->\n```sh\n```\n", "want skip"},
		{"text\n\n    mustlink info\n", "line 3: an indented command"},
	} {
		if _, err := blocks(c.page); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want one with %q", c.page, err, c.want)
		}
	}
}

// A page with correct output passes, a page with wrong output fails with its line, and -update
// replaces the output.
func TestRunPage(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "page.md")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(page, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	sink, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	check := func(text string, update, want bool) {
		t.Helper()
		write(text)
		ok, err := runPage(t.Context(), sink, page, runner{module: dir, update: update, counts: counts{}})
		if err != nil || ok != want {
			t.Errorf("%q: %v, error %v: want %v", text, ok, err, want)
		}
	}
	check("```console\n$ echo 1.0 > x\n$ cat x\n1.001\n```\n", false, true)
	check("```console\n$ echo a\nb\n```\n", false, false)
	check("```console\n$ false\n```\n", false, false)
	check("<!-- run: code 1 -->\n```console\n$ false\n```\n", false, true)
	check("```sh\nfalse\ntrue\n```\n", false, false)
	check("<!-- run: data a.csv -->\n```sh\nfalse\n```\n", false, true)
	check("```go\nx := 1\n```\n", false, false)
	if err := os.WriteFile(filepath.Join(dir, "code.go"), []byte("x := 1\nif err\n\ty := x\n"),
		0o666); err != nil {
		t.Fatal(err)
	}
	check("<!-- run: from code.go -->\n```go\nx := 1\ny := x\n```\n", false, true)
	check("<!-- run: from code.go -->\n```go\ny := x\nx := 1\n```\n", false, false)
	check("```console\n$ echo a; echo b\n?\n$ true\n```\nend\n", true, true)
	got, err := os.ReadFile(page)
	if want := "```console\n$ echo a; echo b\na\nb\n$ true\n```\nend\n"; err != nil || string(got) != want {
		t.Errorf("updated page %q, want %q", got, want)
	}
}

func TestBrokenLinks(t *testing.T) {
	dir := t.TempDir()
	other := "# One thing\n## What `x-y` costs: 2 times?\n```text\n# no heading\n```\n"
	if err := os.WriteFile(filepath.Join(dir, "other.md"), []byte(other), 0o666); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(dir, "page.md")
	for _, c := range []struct {
		text string
		want string // of the one fault, "" for none
	}{
		{"[a](other.md) [b](other.md#one-thing) [c](https://no.where/x)", ""},
		{"[a](other.md#what-x-y-costs-2-times)", ""},
		{"# Here\n[a](#here)", ""},
		{"```text\n[a](nothing.md)\n```", ""},
		{"x\n[a](nothing.md)", "line 2: link nothing.md: there is no such file"},
		{"[a](other.md#no-heading)", "no such heading"},
		{"[a](#there)", "no such heading"},
	} {
		got := brokenLinks(page, c.text)
		if c.want == "" && len(got) > 0 || c.want != "" &&
			(len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestAfter: a Python block runs after the file that gives it its names.
func TestAfter(t *testing.T) {
	t.Setenv("PYTHON", "bash") // which is also asked with -c
	t.Setenv("MUSTLINK_LIBRARY", "some")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "names.py"), []byte("x=3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for file, ok := range map[string]bool{"names.py": true, "none.py": false} {
		r := runner{module: dir, scratch: dir, counts: counts{}}
		b := block{language: "python", text: []string{"test $x = 3"}, mark: mark{after: file}}
		err := r.run(t.Context(), &b)
		if (err == nil) != ok || len(r.faults) > 0 {
			t.Errorf("%s: error %v, faults %v", file, err, r.faults)
		}
	}
}

// TestCounts: blocks are counted by language, those that are not run apart, with the reason.
func TestCounts(t *testing.T) {
	c := counts{}
	r := runner{counts: c}
	t.Setenv("MUSTLINK_LIBRARY", "")
	for _, b := range []block{
		{language: "sh", text: []string{":"}},
		{language: "sh", mark: mark{skip: "long"}},
		{language: "sh", mark: mark{data: []dataFile{{"a.csv", "a.csv"}}}},
		{language: "c"}, {language: "text"}, {language: "python"}, {language: "python"},
	} {
		if err := r.run(t.Context(), &b); err != nil {
			t.Error(err)
		}
	}
	const want = "c 0 run, 1 skipped: not run here; python 0 run, 2 skipped: no MUSTLINK_LIBRARY; " +
		"sh 1 run, 1 skipped: marked so, 1 skipped: no MUSTLINK_DATA"
	if got := c.String(); got != want || len(r.faults) > 0 {
		t.Errorf("%q, faults %v; want %q", got, r.faults, want)
	}
}
