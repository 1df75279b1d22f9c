package main

import (
	"strings"
	"testing"

	"github.com/mustlink/mustlink/internal/clitest"
)

// TestFigure: a figure is written as a picture, as its numbers, or as a page.
func TestFigure(t *testing.T) {
	dir := t.TempDir()
	for name, begins := range map[string]string{
		"f.png": "\x89PNG", "f.svg": "<?xml", "f.pdf": "%PDF", "f.csv": "class,x,y,learned x,learned y\n",
		"f.md": "# tsang-fig2", "f.json": "{",
	} {
		bench.RunOK(t, dir, "paper tsang-fig2 -o "+name)
		if text := clitest.Read(t, dir, name); !strings.HasPrefix(text, begins) {
			t.Errorf("%s begins with %.20q: want %q", name, text, begins)
		}
	}
	bench.RunOK(t, dir, "paper soleymani-fig2 -q --repetitions 2 -o boxes.svg")
	if text := clitest.Read(t, dir, "boxes.svg"); !strings.Contains(text, "<svg") ||
		!strings.Contains(text, "xiang") {
		t.Errorf("a picture of box plots begins with %.80q", text)
	}
	if o := bench.RunOK(t, dir, "paper --list"); !strings.Contains(o.Stdout, "tsang-fig3") {
		t.Errorf("the list does not name the figures: %s", o.Stdout)
	}
	for line, words := range map[string][]string{
		"paper tsang-fig1 -o x.gif":        {"x.gif", ".svg"},
		"paper soleymani-fig2 -o x.gif":    {"x.gif", ".svg"},
		"paper tsang-1 -o x.svg":           {"x.svg", ".json"},
		"paper tsang-fig1 --repetitions 3": {"--repetitions", "figure"},
		"paper tsang-fig1 --data .":        {"--data", "figure"},
	} {
		bench.WantInputError(t, dir, line, words...)
	}
}
