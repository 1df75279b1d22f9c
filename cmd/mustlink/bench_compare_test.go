package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/bench/paper"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/internal/session"
	"github.com/mustlink/mustlink/internal/view"
)

// TestBenchCompare: cross table and curves become a page, JSON and a picture, from one state file.
func TestBenchCompare(t *testing.T) {
	t.Setenv(dataVariable, "") // the folder of real data, where there is one
	dir := t.TempDir()
	for _, name := range []string{"iris", "wine"} {
		text := "x,y,label\n"
		for i := range 60 {
			label := "a"
			if (i/20)%2 == 1 {
				label = "b"
			}
			text += fmt.Sprintf("%d,%d,%s\n", i%20, i*i%17+i/20*3, label)
		}
		write(t, dir, name+".csv", text)
	}
	options := " --data . --repetitions 2 --state s -q"
	for name, begins := range map[string]string{"c.md": "# Cross table", "c.json": "{", "c.svg": "<?xml"} {
		runOK(t, dir, "bench cross --methods krca,rca"+options+" -o "+name)
		if text := read(t, dir, name); !strings.HasPrefix(text, begins) || name != "c.svg" && !strings.Contains(text, "wine") {
			t.Errorf("%s begins with %.40q: want %q", name, text, begins)
		}
	}
	runOK(t, dir, "bench cross --methods krca,rca"+options+" -o c.md")
	if text := read(t, dir, "c.md"); !strings.Contains(text, "4 repetitions were taken from a state file") {
		t.Errorf("the page does not say that all repetitions were there: %s", text)
	}
	runOK(t, dir, "bench curves --sets iris --methods rca"+options+" -o l.md")
	runOK(t, dir, "bench curves --sets iris --methods rca"+options+" -o l.json")
	runOK(t, dir, "bench curves --sets iris --methods rca"+options+" -o l.svg")
	runOK(t, dir, "bench paper soleymani-fig2 --repetitions 2 -q --state s -o boxes.json")
	runOK(t, dir, "bench paper soleymani-fig2 --repetitions 2 -q --state s -o boxes.svg")
	runOK(t, dir, "bench paper tsang-1 --repetitions 2 -q -o flat.json")
	for _, name := range []string{"c", "l", "boxes"} { // drawn again from the numbers
		runOK(t, dir, "plot "+name+".json -q -o again.svg")
		if read(t, dir, "again.svg") != read(t, dir, name+".svg") {
			t.Errorf("%s.json gives another picture than bench does", name)
		}
	}
	write(t, dir, "odd.json", "{}")
	if text := read(t, dir, "l.md"); !strings.Contains(text, "5000 links") {
		t.Errorf("the page is %s", text)
	}
	before := names(t, dir)
	for line, words := range map[string][]string{
		"bench cross --data . -o x.gif":                 {"x.gif", ".svg"},
		"bench cross --data . --sets irsi":              {"irsi", "iris"},
		"bench cross --data . --methods krac":           {"krac", "krca"},
		"bench cross --data . --quick --repetitions 2":  {"--quick", "--repetitions"},
		"bench cross --data . --repetitions 0":          {"--repetitions"},
		"bench cross --data . --state -":                {"--state"},
		"bench cross":                                   {"--data", "MUSTLINK_DATA"},
		"bench curves --data .":                         {"image.csv"},
		"bench paper tsang-1 --quick":                   {"--quick", "all"},
		"plot odd.json -o x.svg":                        {"odd.json", "bench"},
		"plot flat.json -o x.svg":                       {"tsang-1", "picture"},
		"plot c.json -i iris.csv -o x.svg":              {"c.json"},
		"plot missing.json -o x.svg":                    {"missing.json"},
		"bench paper all --data .":                      {"-o"},
		"bench paper all --data . -o r --repetitions 2": {"--repetitions", "--quick"},
		"bench paper list --quick":                      {"--quick"},
	} {
		wantInputError(t, dir, run(t, dir, line), before, words...)
	}
}

// TestBenchAll: every entry has its page and numbers, missing data are said, and a second run makes nothing again.
func TestBenchAll(t *testing.T) {
	trials, drawings := 0, 0
	table := func(name string, data []string) paper.Table {
		return paper.Table{Name: name, Label: "Table 1", Columns: []string{"c"}, Rows: []paper.Row{{Name: "r", Printed: paper.Means(2)}}, Good: paper.Higher,
			Repetitions: 70, Data: data, Trial: func(context.Context, *engine.Engine, paper.Trial) ([][]float64, error) {
				trials++
				return [][]float64{{1}}, nil
			}}
	}
	tables := []paper.Table{table("here", nil), table("gone", []string{"no.csv"})}
	figures := []paper.Figure{{Name: "drawn", Caption: "a line", Draw: func(context.Context, *engine.Engine, paper.Sketch) (*paper.Drawing, error) {
		drawings++
		return &paper.Drawing{Columns: []string{"x"}, Rows: [][]float64{{1}}, Notes: []string{"It is one."},
			Panels: []view.Panel{view.Lines{Series: []view.Series{{X: []float64{1}, Y: []float64{1}}}}}}, nil
	}}}
	dir := filepath.Join(t.TempDir(), "out")
	for run, want := range []string{"made", "found"} {
		a := &app{&session.Session{Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }, Workers: 1}}
		cmd := &cobra.Command{}
		cmd.SetContext(context.Background())
		if err := a.runBenchAll(cmd, &paperFlags{quick: true, seed: 3, data: t.TempDir(), out: dir}, tables, figures); err != nil {
			t.Fatal(err)
		}
		if trials != 7 || drawings != 1 {
			t.Errorf("run %d: %d trials and %d drawings: want 7 and 1, %s", run, trials, drawings, want)
		}
		page := read(t, dir, reproductionPage)
		for _, words := range []string{"[here](results/here.md) | r | 2 | 1 ± 0", "| worse |", "data not available (no.csv)", "It is one.", "--quick"} {
			if !strings.Contains(page, words) {
				t.Errorf("run %d: no %q in\n%s", run, words, page)
			}
		}
	}
	var numbers paper.Result
	if err := json.Unmarshal([]byte(read(t, filepath.Join(dir, resultsFolder), "here.json")), &numbers); err != nil || numbers.Repetitions != 7 {
		t.Errorf("%d repetitions, error %v", numbers.Repetitions, err)
	}
	for _, name := range []string{"here.md", "drawn.md", "drawn.json", "drawn.svg"} {
		if read(t, filepath.Join(dir, resultsFolder), name) == "" {
			t.Errorf("%s is empty", name)
		}
	}
}
