package paper

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mustlink/mustlink/internal/propertytest"
)

// nasty has every character with a meaning in Markdown.
const nasty = "a|b \\| *c* _d_ `e` [f](g) <h> ~~i~~ &amp;\nj"

func nastyTable() Table {
	table := toy()
	table.Caption, table.Paper, table.Label = nasty, nasty, nasty
	table.Rows[0].Name, table.Rows[1].Name = nasty, "# "+nasty
	table.Columns = []string{nasty, "|"}
	table.Setup, table.Differences = []string{"- " + nasty}, []string{nasty}
	return table
}

// cells splits a line of a Markdown table at the bars that are not escaped, as GitHub does, and
// removes the escapes.
func cells(line string) []string {
	var out []string
	var cell strings.Builder
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line):
			i++
			cell.WriteByte(line[i])
		case line[i] == '|':
			out = append(out, strings.TrimSpace(cell.String()))
			cell.Reset()
		default:
			cell.WriteByte(line[i])
		}
	}
	return append(out, strings.TrimSpace(cell.String()))
}

func TestMarkdownEscapes(t *testing.T) {
	r := mustRun(t, nastyTable(), Options{Repetitions: 3})
	plain := strings.Join(strings.Fields(nasty), " ")
	rows := 0
	for line := range strings.Lines(r.Markdown()) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		c := cells(strings.TrimSpace(line))
		// Seven columns and nothing outside the outer bars.
		if len(c) != 9 || c[0] != "" || c[8] != "" {
			t.Errorf("line %q splits into %q: want 7 cells", line, c)
			continue
		}
		if rows++; rows == 3 && (c[1] != plain || c[2] != plain) {
			t.Errorf("first line of values is for %q, %q: want %q twice", c[1], c[2], plain)
		}
	}
	if rows != 2+4 {
		t.Errorf("%d lines of table: want head, rule and 4", rows)
	}
}

// TestEscapeProperty: every text stays in its cell and line, and unescaping gives it back, except
// for runs of white space.
func TestEscapeProperty(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.RuneFrom([]rune("ab \t\n\r|\\`*_[]<>~&#+-=1.é"))).Draw(t, "s")
		got := cells(escape(s))
		if len(got) != 1 || got[0] != strings.Join(strings.Fields(s), " ") {
			t.Fatalf("escape(%q) = %q reads as %q", s, escape(s), got)
		}
	})
}

func TestMarkdownFigures(t *testing.T) {
	table := toy()
	table.Columns = []string{"score"}
	table.Decimals = 2
	table.Rows = []Row{{"x", Means(0.5)}, {"y", Means(math.NaN())}, {"z", []Value{{3, 0.25}}}}
	r := &Result{Table: table, Repetitions: 4, Seed: 9, Seconds: 61.6, TrialSeconds: 0.25, Ours: [][]Value{
		{{0.504, 0.126}}, {{1, math.NaN()}}, {{2.75, 0}}}}
	page := r.Markdown()
	for _, want := range []string{
		"| system | score, ours | paper | difference | in s.d. | verdict |",
		"| x | 0.50 ± 0.13 | 0.50 | +0.00 | +0.0 | reproduced |",
		"| y | 1.00 | - | - | - | - |",
		"| z | 2.75 ± 0.00 | 3.00 ± 0.25 | -0.25 | -1.4 | worse |",
		"Means and standard deviations over 4 repetitions.",
		"mustlink-bench paper toy --repetitions 4 --seed 9",
		"Wall time: 1m2s (all trials one after the other: 250ms)",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("page lacks %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "NaN") {
		t.Error("page shows a NaN")
	}
	r.Repetitions = 1
	if page := r.Markdown(); strings.Contains(page, "1 repetitions") {
		t.Errorf("page of one repetition speaks of several:\n%s", page)
	}
}

func TestJSON(t *testing.T) {
	r := mustRun(t, nastyTable(), Options{Repetitions: 1, Seed: 5})
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Table struct {
			Name string
			Rows []struct {
				Name    string
				Printed []map[string]float64
			}
		}
		Seed  uint64
		Ours  [][]map[string]float64
		Build struct{ Backend, CPU, Go string }
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if got.Table.Name != "toy" || got.Seed != 5 || got.Table.Rows[0].Name != nasty {
		t.Errorf("name, seed or row is wrong: %+v", got)
	}
	if p := got.Table.Rows[0].Printed; p[0]["mean"] != 0.5 || len(p[1]) != 0 {
		t.Errorf("printed values are %v: want a mean of 0.5 and an empty object", p)
	}
	if o := got.Ours[1][0]; o["mean"] != r.Trials[0][1][0] || len(o) != 1 {
		t.Errorf("our value is %v: want that of the trial, without a standard deviation", o)
	}
	if got.Build.Backend == "" || got.Build.CPU == "" || got.Build.Go == "" {
		t.Errorf("build is %+v: want backend, CPU and Go version", got.Build)
	}
}

func TestBuildLine(t *testing.T) {
	b := DescribeBuild(newEngine(t), 3)
	for _, want := range []string{b.Go, b.Backend, "3 trials at a time", "no tags"} {
		if want == "no tags" && b.Tags != "" {
			want = b.Tags
		}
		if want == "" || !strings.Contains(b.String(), want) {
			t.Errorf("build line %q lacks %q", b, want)
		}
	}
}

// TestQuartiles: a table with quartiles prints them, and draws a panel for every column with a box
// for every row.
func TestQuartiles(t *testing.T) {
	table := toy()
	table.Quartiles = true
	for i := range table.Rows {
		table.Rows[i].Printed = Means(math.NaN(), math.NaN())
	}
	r := &Result{Table: table, Repetitions: 5}
	for _, v := range []float64{5, 1, 4, 2, 3} {
		r.Trials = append(r.Trials, [][]float64{{v, 10 * v}, {-v, v * v}})
		r.Ours = [][]Value{Means(0, 0), Means(0, 0)}
	}
	if q := r.Quartiles(0, 1); q != [3]float64{20, 30, 40} {
		t.Errorf("quartiles of 10 to 50 are %v", q)
	}
	if q := r.Quartiles(1, 1); q != [3]float64{4, 9, 16} {
		t.Errorf("quartiles of the squares of 1 to 5 are %v", q)
	}
	r.Trials = r.Trials[:2] // 5 and 1
	if q := r.Quartiles(0, 0); q != [3]float64{2, 3, 4} {
		t.Errorf("quartiles of 1 and 5 are %v", q)
	}
	if page := r.Markdown(); !strings.Contains(page, "Medians [lower quartile, upper quartile]") ||
		!strings.Contains(page, "[20.") {
		t.Errorf("the page has no quartiles:\n%s", page)
	}
	if n := len(r.Panels()); n != len(table.Columns) {
		t.Errorf("%d panels, want %d", n, len(table.Columns))
	}
}
