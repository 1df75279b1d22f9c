package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestFindings: words that are planted in a page and in a Go file are found, and only they.
func TestFindings(t *testing.T) {
	for _, name := range []string{"bad.md", "bad.go"} {
		found, err := check(name, read(t, name))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			got = append(got, f.String())
		}
		want := strings.Split(strings.TrimSpace(read(t, name+".want")), "\n")
		if !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestNoFindings: words that hold others, allowed phrases and long lines of tables are fine.
func TestNoFindings(t *testing.T) {
	found, err := check("good.md", read(t, "good.md"))
	if err != nil || len(found) > 0 {
		t.Errorf("findings %v, error %v: want none", found, err)
	}
}

func TestCheckRefuses(t *testing.T) {
	if _, err := check("broken.go", "package"); err == nil {
		t.Error("a Go file that does not parse has no error")
	}
}

func TestParse(t *testing.T) {
	rules := parse("# nothing\none, two words | better # why\nnormalis~|-ize\n")
	if len(rules) != 10 || rules[1].better != "better" || !slices.Equal(rules[1].phrase, []string{"two", "words"}) {
		t.Errorf("rules %v", rules)
	}
	if last := rules[9]; last.phrase[0] != "normalisations" {
		t.Errorf("last rule %v", last)
	}
	for _, r := range nameRules {
		if r.better == "" {
			t.Errorf("%q has no better word", r.phrase)
		}
	}
}

func TestTokens(t *testing.T) {
	var got []string
	for _, w := range (passage{1, "newColors of_the\nHTTP-server x2y"}).tokens() {
		got = append(got, w.text)
	}
	if want := []string{"new", "Colors", "of", "the", "HTTP", "server", "x", "y"}; !slices.Equal(got, want) {
		t.Errorf("words %q, want %q", got, want)
	}
}

func TestSentences(t *testing.T) {
	page := strings.Join([]string{
		"# A heading has no sentences.",
		"One two three. Four (e.g. this)",
		"`five six` seven! **Eight.** [Nine ten](to/x.md) – eleven",
		"1. Twelve 0.5 is",
		"   fourteen?",
		"",
		"| no. | no. |",
		"```",
		"No. No.",
		"```",
		"<!-- bench -->",
		"No sentence. No sentence.",
		"<!-- end of bench -->",
	}, "\n")
	var got []int
	for _, b := range blocks(page) {
		if b.kind != paragraph || b.generated {
			continue
		}
		for _, s := range sentences(b.passage) {
			got = append(got, len(strings.Fields(s.text)))
		}
	}
	if want := []int{3, 5, 1, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("words of sentences %v, want %v", got, want)
	}
	if l := count(page); l != (lengths{sentences: 5, median: 3, ninth: 5, longest: 2}) {
		t.Errorf("lengths %+v", l)
	}
	if l := count(""); l.sentences != 0 {
		t.Errorf("an empty page has %+v", l)
	}
}

// TestRun: pages, help topics and Go files of a folder are found, others are not.
func TestRun(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{
		"README.md":            "anew",
		"a/topics/x.txt":       "mended",
		"a/code.go":            "package heeds",
		"a/other.txt":          "anew",
		"bin/page.md":          "anew",
		"docs/results/page.md": "anew",
		"docs/glossary.md":     "anew",
		"a/testdata/page.md":   "anew",
		".hidden/page.md":      "anew",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		code bool
		want string
	}{
		{false, "README.md:1: anew: again, from scratch\na/topics/x.txt:1: mended: fix, repair\n"},
		{true, "a/code.go:1: heeds: take into account (not heeded: ignored)\n"},
	} {
		var out strings.Builder
		if err := run(&out, root, nil, c.code, false); err == nil {
			t.Errorf("code=%v: no error", c.code)
		}
		if got := strings.ReplaceAll(out.String(), root+string(filepath.Separator), ""); filepath.ToSlash(got) != c.want {
			t.Errorf("code=%v: printed %q, want %q", c.code, got, c.want)
		}
	}
	var out strings.Builder
	if err := run(&out, root, []string{filepath.Join(root, "README.md")}, false, true); err != nil || !strings.Contains(out.String(), "1 sentences") {
		t.Errorf("printed %q, error %v", out.String(), err)
	}
	if err := run(&out, root, nil, false, true); err == nil {
		t.Error("sentences of no files are no error")
	}
	if err := run(&out, root, []string{filepath.Join(root, "nothing.md")}, false, false); err == nil {
		t.Error("a file that is not there is no error")
	}
}
