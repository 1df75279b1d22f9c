package main

import (
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlot: learned and raw points become pictures of every format, the same bytes each time.
func TestPlot(t *testing.T) {
	dir := withModel(t)
	for _, line := range []string{
		"plot model.mlk -i data.csv -c links.csv -o %",
		"plot model.mlk -i data.csv --dims 1,0 --title learned --no-legend -o %",
		"plot -i data.csv -c links.csv --standardize --width 5 --height 3 -o %",
		"plot -i data.csv --dims 0,2 -o %",
	} {
		for _, name := range []string{"p.png", "p.svg", "p.pdf"} {
			runOK(t, dir, strings.ReplaceAll(line, "%", name))
			first := read(t, dir, name)
			runOK(t, dir, strings.ReplaceAll(line, "%", name)+" --workers 1")
			if first != read(t, dir, name) {
				t.Errorf("%s, %s: the bytes differ in a second run", line, name)
			}
		}
	}
	if svg := read(t, dir, "p.svg"); !strings.Contains(svg, ">f0<") || !strings.Contains(svg, ">f2<") {
		t.Error("the axes do not bear the names of the features")
	}
	runOK(t, dir, "plot -i data.csv --width 5 --height 3 --dpi 60 -o p.png")
	f, err := os.Open(filepath.Join(dir, "p.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if c, err := png.DecodeConfig(f); err != nil || c.Width != 300 || c.Height != 180 {
		t.Errorf("%d x %d, error %v: want 300 x 180", c.Width, c.Height, err)
	}
	r := parse(t, runOK(t, dir, "plot -i data.csv -c links.csv --max-links 2 -o p.svg --json").stdout)
	if r["must_links_drawn"] != 2.0 || r["cannot_links_drawn"] != 1.0 || len(r["warnings"].([]any)) != 1 {
		t.Errorf("report %v: want 2 must-links, 1 cannot-link and a warning", r)
	}
	if o := runOK(t, dir, "plot -i data.csv --as svg -o -"); !strings.Contains(o.stdout, "<svg") {
		t.Errorf("standard output begins %.40q: want an SVG", o.stdout)
	}
	if o := runOK(t, dir, "plot -i data.csv -o -"); !strings.HasPrefix(o.stdout, "\x89PNG") {
		t.Errorf("standard output begins %.10q: want a PNG", o.stdout)
	}
}

func TestPlotBadInput(t *testing.T) {
	dir := withModel(t)
	write(t, dir, "gram.csv", "a,b\n1,0\n0,1\n")
	before := names(t, dir)
	for line, words := range map[string][]string{
		"plot -i data.csv -o p.gif":                              {"p.gif", ".png, .svg, .pdf"},
		"plot -i data.csv":                                       {"--output"},
		"plot -i data.csv --dims 0 -o p.png":                     {"--dims", "two"},
		"plot -i data.csv --dims 0,7 -o p.png":                   {"coordinate 7", "0 to 2"},
		"plot -i data.csv --width 0.1 -o p.png":                  {"--width", "0.1"},
		"plot -i data.csv --dpi 1 -o p.png":                      {"--dpi"},
		"plot -i data.csv --max-links -1 -o p.png":               {"--max-links"},
		"plot -i data.csv --as gif -o -":                         {"--as", "gif"},
		"plot -i data.csv --as png -o p.png":                     {"--as", "-o -"},
		"plot -i gram.csv --gram -o p.png":                       {"--gram", "model"},
		"plot model.mlk -i data.csv --standardize -o p.png":      {"--standardize"},
		"plot model.mlk -i gram.csv -o p.png":                    {"number of features", "3"},
		"plot -i data.csv -c links.csv -o links.csv":             {"links.csv"},
		"plot -i data.csv -o no/such/folder/p.png":               {"no/such/folder"},
		"plot -i data.csv --point-size -2 -o p.png":              {"--point-size"},
		"plot model.mlk -i data.csv -c missing.csv -o p.png":     {"missing.csv"},
		"plot model.mlk -i data.csv --labels links.csv -o p.png": {"label"},
	} {
		wantInputError(t, dir, run(t, dir, line), before, words...)
	}
}
