package paper

import (
	"math"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/bench/printed"
)

// TestCompare: the verdict follows the difference in standard deviations and the good direction.
func TestCompare(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name          string
		printed, ours Value
		good          Direction
		want          Verdict
		units         float64
	}{
		{"within the printed standard deviation", Value{2, 0.5}, Value{1.6, nan}, Higher, Reproduced, -0.8},
		{"above it", Value{2, 0.5}, Value{2.6, nan}, Higher, Better, 1.2},
		{"within the pooled one", Value{2, 0.1}, Value{2.4, 0.7}, Higher, Reproduced, 0.8},
		{"above the pooled one", Value{2, 0.7}, Value{2.6, 0.1}, Higher, Better, 1.2},
		{"below the pooled one", Value{2, 0.7}, Value{1.4, 0.1}, Higher, Worse, -1.2},
		{"below where low is good", Value{2, 0.7}, Value{1.4, 0.1}, Lower, Better, -1.2},
		{"different without a good direction", Value{2, 0.7}, Value{2.6, 0.1}, Neither, Worse, 1.2},
		{"our standard deviation, without a printed one", Value{2, nan}, Value{2.6, 0.5}, Higher, Better,
			1.2},
		{"one per cent, without any", Value{2, nan}, Value{1.985, nan}, Higher, Reproduced, nan},
		{"more, without any", Value{2, nan}, Value{1.97, nan}, Higher, Worse, nan},
		{"one per cent, with a standard deviation of 0", Value{2, nan}, Value{1.985, 0}, Higher, Reproduced,
			nan},
		{"one per cent, with a standard deviation from rounding", Value{2, nan}, Value{1.985, 1e-15}, Higher,
			Reproduced, nan},
	} {
		got := Compare(c.name, c.printed, c.ours, c.good, "why")
		if got.Verdict != c.want ||
			!(math.Abs(got.Units-c.units) < 1e-9 || math.IsNaN(got.Units) && math.IsNaN(c.units)) {
			t.Errorf("%s: %s at %g: want %s at %g", c.name, got.Verdict, got.Units, c.want, c.units)
		}
		if (got.Why != "") != (c.want == Worse) {
			t.Errorf("%s: %s has the reason %q", c.name, got.Verdict, got.Why)
		}
	}
}

// resultOf returns a result of trials with two columns.
func resultOf(trials int, value func(row, column, trial int) float64) *Result {
	r := &Result{Table: Table{Name: "t", Columns: []string{"x", "y"}, Own: "own",
		Variants: []string{"own too"}, Good: Lower, Why: "why",
		Rows: []Row{{"own", Unprinted(2)}, {"own too", Unprinted(2)}, {"other", Unprinted(2)}}},
		Repetitions: trials, Ours: make([][]Value, 3)}
	for k := range trials {
		values := make([][]float64, 3)
		for i := range values {
			values[i] = []float64{value(i, 0, k), value(i, 1, k)}
		}
		r.Trials = append(r.Trials, values)
	}
	for i := range 3 {
		for j := range 2 {
			r.Ours[i] = append(r.Ours[i], summarize(given(trials, func(k int) float64 {
				return r.Trials[k][i][j]
			})))
		}
	}
	return r
}

// TestOrders: the own method is ahead everywhere, ahead on one column and behind on the other, or
// behind everywhere; low is good.
func TestOrders(t *testing.T) {
	for _, c := range []struct {
		name   string
		signs  [2]float64 // of other less own, by column
		want   Verdict
		ahead  int
		behind int
	}{
		{"ahead", [2]float64{1, 1}, Reproduced, 2, 0},
		{"one each", [2]float64{1, -1}, Worse, 1, 1},
		{"behind", [2]float64{-1, -1}, Worse, 0, 2},
		{"equal", [2]float64{0, 0}, Reproduced, 2, 0},
	} {
		r := resultOf(8, func(row, column, trial int) float64 {
			v := math.Sin(float64(trial))
			if row == 2 {
				v += c.signs[column] * (1 + 0.1*math.Cos(float64(trial)))
			}
			return v
		})
		orders, err := r.Orders()
		if err != nil {
			t.Fatal(err)
		}
		if len(orders) != 1 {
			t.Fatalf("%s: %d orders: want one, against the one rival", c.name, len(orders))
		}
		if o := orders[0]; o.Verdict != c.want || o.Ahead != c.ahead || o.Behind != c.behind ||
			o.Student != c.behind {
			t.Errorf("%s: %+v", c.name, o)
		}
		if few, err := resultOf(5, func(int, int, int) float64 {
			return 0
		}).Orders(); err != nil || few != nil {
			t.Errorf("five repetitions: %v, %v", few, err)
		}
	}
}

// TestReproduction: the page has every entry once, with its verdict, and the reasons for entries
// that are not reproduced.
func TestReproduction(t *testing.T) {
	r := resultOf(8, func(row, column, trial int) float64 {
		return float64(trial%3) + float64(2*row*(1-2*column))
	})
	r.Table.Rows[0].Printed = []Value{{1, 0.5}, {-9, 0.5}}
	e, err := r.Entry()
	if err != nil {
		t.Fatal(err)
	}
	d := &Drawing{Figure: Figure{Name: "f", Label: "Figure 9", Caption: "a curve"},
		Notes: []string{"It grows."}}
	entries := []Entry{e, d.Entry(), {Name: "gone", Label: "Table 9", Missing: []string{"no.csv"}}}
	page := Reproduction(entries, printed.Builtin(), "results", "make it")
	for _, want := range []string{"- t: why", "It grows.", "data not available (no.csv)", "make it",
		"| own | other | 1 of 2"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

// TestCounts: a printed number counts once, by its verdict, and apart if the data are not the
// paper's; the others have no counterpart.
func TestCounts(t *testing.T) {
	key := func(method string) *printed.Key {
		return &printed.Key{Table: "tsang-1", Dataset: "XOR", Condition: "Gaussian kernel", Method: method,
			Measure: "rand_index"}
	}
	protein := &printed.Key{Table: "tsang-2", Dataset: "SCOP 40% subset", Condition: "",
		Method: "no KRCA (spectrum kernel)", Measure: "auc"}
	entries := []Entry{{Name: "a", Comparisons: []Comparison{
		{What: "KRCA, XOR", Key: key("KRCA"), Verdict: Worse}, {Key: key("no KRCA"), Verdict: Better},
		{Key: &printed.Key{Table: "lu-fig5", Measure: "iterations_to_align_at_most"}, Verdict: Reproduced},
		{Key: protein, Partial: "another version", Verdict: Reproduced}}},
		{Name: "b", Comparisons: []Comparison{{Key: key("KRCA"), Verdict: Reproduced}, {Verdict: Better}},
			Claims: []Claim{{"it is", Mixed, "one of two"}, {"the same elsewhere", Reproduced, ""}}}}
	page := Reproduction(entries, printed.Builtin(), "results", "make it")
	for _, want := range []string{
		// own: the first page counts
		"| tsang-1 | the paper's | 1 | 1 | 0 | 0 | 1 | [a](results/a.md), [b](results/b.md) |",
		"| tsang-1 | the paper's | 3 | 1 | 0 | 1 | 0 |", // rivals
		"| tsang-1 | none | 3 | 0 |",
		"| tsang-2 | in part | 4 | 1 | 1 | 0 | 0 |",
		"| tsang-2 | none | 16 | 0 |",
		"| lu-fig5 | the paper's | 1 | 1 | 1 | 0 | 0 |", // apart from both
		"| [a](results/a.md) | KRCA, XOR | 0 | 0 | +0.0 | not tried |",
		"| [b](results/b.md) | it is | mixed | one of two | not tried |",
		"methods 0 are reproduced, 1 are mixed and 0 are not;",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if own, rival := Count(entries, Own), Count(entries, Rival); own != (Tally{Worse: 1}) ||
		rival != (Tally{Better: 1}) {
		t.Errorf("own methods %+v and rivals %+v: want one worse and one better", own, rival)
	}
}

// TestKeys: every printed number that a table or figure compares with is in the files, and each of
// them at most once in a table.
func TestKeys(t *testing.T) {
	for _, table := range Tables() {
		seen := map[printed.Key]bool{}
		for i, row := range table.Keys {
			for j, key := range row {
				number, ok := printed.Builtin().Find(key)
				if !ok {
					continue
				}
				if seen[key] {
					t.Errorf("%s: %+v is there twice", table.Name, key)
				}
				seen[key] = true
				if v := table.Rows[i].Printed[j]; v.Mean != number.Value {
					t.Errorf("%s: %+v is %g: want %g", table.Name, key, v.Mean, number.Value)
				}
			}
		}
		if table.Keys != nil && len(seen) == 0 {
			t.Errorf("%s: none of its numbers is in the files", table.Name)
		}
	}
}

// TestFold: lines have at most 100 characters, and the lines of a list item are aligned.
func TestFold(t *testing.T) {
	var b strings.Builder
	fold(&b, "- ", strings.Repeat("word ", 30))
	fold(&b, "", "a "+strings.Repeat("é", 98))
	fold(&b, "", strings.Repeat("x", 120))
	words := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }
	want := "- " + words(19) + "\n  " + words(11) + "\na " + strings.Repeat("é", 98) + "\n" +
		strings.Repeat("x", 120) + "\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// TestOwn: the names of own methods are rows of their tables, and tables with own methods have a
// good direction.
func TestOwn(t *testing.T) {
	for _, table := range Tables() {
		rows := map[string]bool{}
		for _, row := range table.Rows {
			rows[row.Name] = true
		}
		if table.Own == "" {
			continue
		}
		for _, name := range append([]string{table.Own}, table.Variants...) {
			if !rows[name] {
				t.Errorf("%s: %q is no row", table.Name, name)
			}
		}
		if table.Good == Neither || table.Why == "" {
			t.Errorf("%s: no direction, or nothing tried", table.Name)
		}
	}
}
