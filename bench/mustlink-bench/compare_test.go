package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/internal/clitest"
)

// dataVariable names the folder of data sets.
const dataVariable = "MUSTLINK_DATA"

// TestCompare: the cross table and the curves are written as a page, as JSON and as a picture, from
// one state file.
func TestCompare(t *testing.T) {
	t.Setenv(dataVariable, "") // it may name the folder of real data
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
		clitest.Write(t, dir, name+".csv", text)
	}
	options := " --data . --repetitions 2 --state s -q"
	for name, begins := range map[string]string{"c.md": "# Cross table", "c.json": "{", "c.svg": "<?xml"} {
		bench.RunOK(t, dir, "cross --methods krca,rca"+options+" -o "+name)
		if text := clitest.Read(t, dir, name); !strings.HasPrefix(text, begins) || name == "c.json" &&
			!strings.Contains(text, "wine") {
			t.Errorf("%s begins with %.40q: want %q", name, text, begins)
		}
	}
	if text := clitest.Read(t, dir, "c.csv"); !strings.Contains(text, ",wine,krca,0.") {
		t.Errorf("the numbers are without those of wine: %s", text)
	}
	bench.RunOK(t, dir, "cross --methods krca,rca"+options+" -o c.md")
	if text := clitest.Read(t, dir, "c.csv"); !strings.Contains(text,
		"4 repetitions were taken from a state file") {
		t.Errorf("the page does not report that all repetitions came from the state file: %s", text)
	}
	bench.RunOK(t, dir, "curves --sets iris --methods rca"+options+" -o l.md")
	bench.RunOK(t, dir, "curves --sets iris --methods rca"+options+" -o l.json")
	bench.RunOK(t, dir, "curves --sets iris --methods rca"+options+" -o l.svg")
	bench.RunOK(t, dir, "paper soleymani-fig2 --repetitions 2 -q --state s -o boxes.json")
	bench.RunOK(t, dir, "paper soleymani-fig2 --repetitions 2 -q --state s -o boxes.svg")
	bench.RunOK(t, dir, "paper tsang-1 --repetitions 2 -q -o flat.json")
	for _, name := range []string{"c", "l", "boxes"} { // drawn again from the numbers
		bench.RunOK(t, dir, "plot "+name+".json -q -o again.svg")
		if clitest.Read(t, dir, "again.svg") != clitest.Read(t, dir, name+".svg") {
			t.Errorf("%s.json gives another picture than its command", name)
		}
	}
	clitest.Write(t, dir, "odd.json", "{}")
	if text := clitest.Read(t, dir, "l.csv"); !strings.Contains(text, "5000 links") {
		t.Errorf("the page is %s", text)
	}
	for line, words := range map[string][]string{
		"cross --data . -o x.gif":                 {"x.gif", ".svg"},
		"cross --data . --sets irsi":              {"irsi", "iris"},
		"cross --data . --methods krac":           {"krac", "krca"},
		"cross --data . --quick --repetitions 2":  {"--quick", "--repetitions"},
		"cross --data . --repetitions 0":          {"--repetitions"},
		"cross --data . --state -":                {"--state"},
		"cross":                                   {"--data", "MUSTLINK_DATA"},
		"curves --data .":                         {"image.csv"},
		"paper tsang-1 --quick":                   {"--quick", "all"},
		"plot odd.json -o x.svg":                  {"odd.json", "bench"},
		"plot flat.json -o x.svg":                 {"tsang-1", "picture"},
		"plot c.json -i iris.csv -o x.svg":        {"-i", "plot --help"},
		"plot c.json":                             {"-o, --output"},
		"plot c.json -o x.gif":                    {"-o, --output", "x.gif", ".svg"},
		"plot c.json -o c.json":                   {"-o, --output", ".svg"},
		"plot c.json -o - --format gif":           {"--format", "gif", "svg"},
		"plot c.json -o x.png --dpi 5":            {"--dpi", "5"},
		"plot":                                    {"RESULTS"},
		"nosuch":                                  {`unknown command "nosuch"`},
		"paper nosuch":                            {"nosuch", "tsang-1"},
		"micro extra":                             {"extra", "flags only"},
		"plot missing.json -o x.svg":              {"missing.json"},
		"paper all --data .":                      {"-o"},
		"paper all --data . -o r --repetitions 2": {"--repetitions", "--quick"},
		"paper list --quick":                      {"--quick"},
	} {
		bench.WantInputError(t, dir, line, words...)
	}
}

// writeIris writes a set of two classes under the name of iris.
func writeIris(t *testing.T, dir string) {
	t.Helper()
	text := "x,y,label\n"
	for i := range 60 {
		text += fmt.Sprintf("%d,%d,%c\n", i%20, i*i%17+i%2*30, 'a'+rune(i%2))
	}
	clitest.Write(t, dir, "iris.csv", text)
}

// TestHindsight: the page and the numbers come from one state file; a rule with an incumbent is one
// of the systems.
func TestHindsight(t *testing.T) {
	t.Setenv(dataVariable, "")
	dir := t.TempDir()
	writeIris(t, dir)
	line := []string{"hindsight", "--data", ".", "--sets", "iris", "--methods",
		"select criterion=agreement methods=itml incumbent=itml,itml", "--repetitions", "1", "--state", "s",
		"-q", "-o"}
	bench.RunArgs(t, dir, append(line, "h.md")...)
	page := clitest.Read(t, dir, "h.md") + clitest.Read(t, dir, "h.csv")
	for _, want := range []string{"of 29 candidates",
		"| select criterion=agreement methods=itml incumbent=itml |", "By data set,iris,",
		"lleratio kernel=exp:lle alpha=1"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	bench.RunArgs(t, dir, append(line, "h.json")...)
	h := clitest.Parse(t, clitest.Read(t, dir, "h.json"))
	if results := h["results"].([]any); len(h["candidates"].([]any)) != 29 || len(results) != 1 ||
		results[0].(map[string]any)["resumed"] != 1.0 {
		t.Errorf("%v", h)
	}
	bench.WantInputError(t, dir, "hindsight --data . --sets iris -o x.png", "-o", ".md")
	bench.WantInputError(t, dir, "hindsight --data . --sets nothing -o x.md", "nothing")
}

// TestSuggestBadInput: bad input is reported before anything is fitted.
func TestSuggestBadInput(t *testing.T) {
	dir := t.TempDir()
	bench.WantInputError(t, dir, "suggest --data . --repetitions 0", "--repetitions")
	bench.WantInputError(t, dir, "suggest --data . --sets ../x", "--sets")
}

// TestSuggest: on well separated clusters, active learning needs few queries.
func TestSuggest(t *testing.T) {
	dir := t.TempDir()
	clitest.Write(t, dir, "iris.csv", clitest.Blobs(40, 3, false))
	r := clitest.Parse(t,
		bench.RunOK(t, dir, "suggest --data . --sets iris --repetitions 2 --classes --json").Stdout)
	curve := r["curves"].([]any)[0].(map[string]any)
	if got := curve["needed"].(float64); !(got > 0 && got <= 0.5) || len(curve["suggested"].([]any)) != 20 {
		t.Errorf("%v", curve)
	}
	if text := bench.RunOK(t, dir,
		"suggest --data . --sets iris --repetitions 1").Stdout; !strings.Contains(text, "| iris | 40 | 2 |") {
		t.Error(text)
	}
}

// TestWrong: the page and the numbers come from one state file.
func TestWrong(t *testing.T) {
	t.Setenv(dataVariable, "")
	dir := t.TempDir()
	writeIris(t, dir)
	const line = "wrong --data . --sets iris --methods rca,itml --repetitions 1 --state s -q -o "
	bench.RunOK(t, dir, line+"w.md")
	page := clitest.Read(t, dir, "w.md") + clitest.Read(t, dir, "w.csv")
	for _, want := range []string{"# Wrong links: 10 %", "| rca |", "| itml |", "held-out",
		"By data set,iris,"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	bench.RunOK(t, dir, line+"w.json")
	w := clitest.Parse(t, clitest.Read(t, dir, "w.json"))
	results := w["results"].([]any)
	if w["share"] != 0.1 || len(results) != 1 || results[0].(map[string]any)["resumed"] != 1.0 {
		t.Errorf("%v", w)
	}
	bench.WantInputError(t, dir, "wrong --data . -o x.png", "-o", ".md")
	bench.WantInputError(t, dir, "wrong --data . --sets nothing -o x.md", "nothing")
	if o := bench.RunOK(t, dir, "wrong --help"); !strings.Contains(o.Stdout,
		"Examples:\n  mustlink-bench wrong") {
		t.Error("the help has no example")
	}
}

// TestPairs: the page has the numbers of links, and numbers that are none are refused.
func TestPairs(t *testing.T) {
	t.Setenv(dataVariable, "")
	dir := t.TempDir()
	writeIris(t, dir)
	bench.RunOK(t, dir, "pairs --data . --sets iris --budgets 5,9 --repetitions 2 -q -o p.md")
	if page := clitest.Read(t, dir, "p.md"); !strings.Contains(page, "| 9 + 9 links |") ||
		!strings.Contains(page, "| iris | 0.") {
		t.Errorf("the page is %s", page)
	}
	bench.WantInputError(t, dir, "pairs --data . --sets iris --budgets 5,0", "--budgets", "0")
}

// TestVerdicts: the page and the numbers come from one state file. A verdict states AUC from 0 to
// 1, and is near the truth for a method that nearly separates the classes.
func TestVerdicts(t *testing.T) {
	t.Setenv(dataVariable, "")
	dir := t.TempDir()
	writeIris(t, dir)
	const line = "verdicts --data . --sets iris --methods rca,itml --repetitions 2 --state s -q -o "
	bench.RunOK(t, dir, line+"v.md")
	page := clitest.Read(t, dir, "v.md") + clitest.Read(t, dir, "v.csv")
	for _, want := range []string{"# Verdicts:", "| rca |", "| itml |", "large gains", "By data set,iris,"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	bench.RunOK(t, dir, line+"v.json")
	result := clitest.Parse(t, clitest.Read(t, dir, "v.json"))["results"].([]any)[0].(map[string]any)
	if result["resumed"] != 2.0 {
		t.Errorf("%v", result)
	}
	for _, row := range result["ours"].([]any) {
		value := func(k int) float64 { return row.([]any)[k].(map[string]any)["mean"].(float64) }
		if stated, truth := value(0), value(3); !(stated <= 1 && truth <= 1 && math.Abs(stated-truth) < 0.3) {
			t.Errorf("the verdict states %v, held-out rows have %v", stated, truth)
		}
	}
	bench.WantInputError(t, dir, "verdicts --data . -o x.png", "-o", ".md")
}
