package main

import (
	"strings"
	"testing"
)

// TestBenchFigure: a figure becomes a picture, its numbers, or a page.
func TestBenchFigure(t *testing.T) {
	dir := t.TempDir()
	for name, begins := range map[string]string{
		"f.png": "\x89PNG", "f.svg": "<?xml", "f.pdf": "%PDF", "f.csv": "class,x,y,learned x,learned y\n", "f.md": "# tsang-fig2", "f.json": "{",
	} {
		runOK(t, dir, "bench paper tsang-fig2 -o "+name)
		if text := read(t, dir, name); !strings.HasPrefix(text, begins) {
			t.Errorf("%s begins with %.20q: want %q", name, text, begins)
		}
	}
	runOK(t, dir, "bench paper soleymani-fig2 -q --repetitions 2 -o boxes.svg")
	if text := read(t, dir, "boxes.svg"); !strings.Contains(text, "<svg") || !strings.Contains(text, "xiang") {
		t.Errorf("a picture of box plots begins with %.80q", text)
	}
	if o := runOK(t, dir, "bench paper --list"); !strings.Contains(o.stdout, "tsang-fig3") {
		t.Errorf("the list does not name the figures: %s", o.stdout)
	}
	before := names(t, dir)
	for line, words := range map[string][]string{
		"bench paper tsang-fig1 -o x.gif":        {"x.gif", ".svg"},
		"bench paper soleymani-fig2 -o x.gif":    {"x.gif", ".svg"},
		"bench paper tsang-1 -o x.svg":           {"x.svg", ".json"},
		"bench paper tsang-fig1 --repetitions 3": {"--repetitions", "figure"},
		"bench paper tsang-fig1 --data .":        {"--data", "figure"},
	} {
		wantInputError(t, dir, run(t, dir, line), before, words...)
	}
}
