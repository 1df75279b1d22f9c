package paper

import (
	"bytes"
	"encoding/csv"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/view"
)

// TestXORFigures: the pictures of the XOR data have the points of the first repetition of the
// table. One line separates the classes in the learned kernel; before learning, none does well.
func TestXORFigures(t *testing.T) {
	eng := scopEngine(t)
	first, err := tsangFigure1().Make(t.Context(), eng, Sketch{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	x, classes, err := xorBlobs(Trial{seed: 1}.Rand(tsangData))
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range first.Rows {
		if row[0] != float64(classes[i]) || row[1] != x.Row(i)[0] || row[2] != x.Row(i)[1] {
			t.Fatalf("row %d is %v: want class %d at %v", i, row, classes[i], x.Row(i))
		}
	}
	links := len(first.Panels[0].(view.Scatter).Must)
	if want := 2 * tsangChunks * (2*tsangFromBlob - 1); links != want {
		t.Errorf("%d lines: want %d, one less than the points of each chunklet", links, want)
	}
	second, err := tsangFigure2().Make(t.Context(), eng, Sketch{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if unlearned, learned := bestThreshold(second.Rows, 1), bestThreshold(second.Rows, 3); learned < 0.99 ||
		unlearned > 0.9 {
		t.Errorf("first component separates %.2f of the points before learning, %.2f after: want a gain to "+
			"nearly all", unlearned, learned)
	}
}

// TestArrivals: a short stream has all its numbers, and the notes agree with them.
func TestArrivals(t *testing.T) {
	x, labels := normalRows(t, 700, 4)
	spec, err := kernel.Parse("rbf:sigma=4")
	if err != nil {
		t.Fatal(err)
	}
	a := arrivals{count: 300, s: 1, relearn: 5, repeats: 2}
	var last algorithms.Progress
	r := rand.New(rand.NewPCG(1, 1))
	d, err := a.measure(t.Context(), scopEngine(t), spec, &labeled{x: x, labels: labels}, r,
		func(p algorithms.Progress) {
			last = p
		})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Rows) != 5 || d.Rows[4][0] != 600 || last.Stage == "" {
		t.Errorf("%d rows, the last %v: want 5 up to 600 points, with progress", len(d.Rows),
			d.Rows[len(d.Rows)-1])
	}
	for _, row := range d.Rows {
		if !(row[1] > 0) || !(row[2] > 0) {
			t.Errorf("row %v: want positive times", row)
		}
	}
	if len(d.Notes) != 2 || !strings.Contains(d.Notes[1], "n^") {
		t.Errorf("notes %q", d.Notes)
	}
	if claims := a.claims(d); len(claims) != 1 || claims[0].Detail == "" {
		t.Errorf("claims %v", claims)
	}
}

// normalRows returns rows of standard normal features in two classes.
func normalRows(t testing.TB, n, d int) (*points.Dense, []string) {
	t.Helper()
	r := rand.New(rand.NewPCG(4, 4))
	var data []float64
	var labels []string
	for i := range n {
		for range d {
			data = append(data, r.NormFloat64())
		}
		labels = append(labels, string(rune('a'+i%2)))
	}
	x, err := points.NewDense(n, d, data)
	if err != nil {
		t.Fatal(err)
	}
	return x, labels
}

func TestMedians(t *testing.T) {
	if got := medians([][]float64{{3, 1}, {1, 9}, {2, 5}, {9, 7}}); got[0] != 2.5 || got[1] != 6 {
		t.Errorf("medians %v: want 2.5 and 6", got)
	}
}

// TestClassPairs: rows are drawn once, in pairs of one class.
func TestClassPairs(t *testing.T) {
	labels := strings.Split("aabbbacccabb", "")
	rows := classPairs(labels, 4, rand.New(rand.NewPCG(1, 1)))
	seen := map[int]bool{}
	for i := 0; i < len(rows); i += 2 {
		if labels[rows[i]] != labels[rows[i+1]] {
			t.Errorf("rows %d and %d are of two classes", rows[i], rows[i+1])
		}
		seen[rows[i]], seen[rows[i+1]] = true, true
	}
	if len(rows) != 8 || len(seen) != 8 {
		t.Errorf("rows %v: want 8 different ones", rows)
	}
}

// TestTrapezoid: costs that grow as c^2 sum to a third of the last cost times the count; costs on a
// line are summed exactly.
func TestTrapezoid(t *testing.T) {
	if got := trapezoid([]int{10, 20, 40}, []float64{1, 2, 4}); got != 80 {
		t.Errorf("sum of a line is %v: want 80", got)
	}
	var sizes []int
	var cost []float64
	for c := 1; c <= 100; c++ {
		sizes, cost = append(sizes, 10*c), append(cost, float64(c*c))
	}
	if got, want := trapezoid(sizes, cost), 1000.0*10000/3; math.Abs(got/want-1) > 1e-3 {
		t.Errorf("sum of squares is %v: want about %v", got, want)
	}
	if got := meanAround([]float64{99, 1, 2, 3}, 2); got != 2 {
		t.Errorf("mean %v: want 2, without the first", got)
	}
}

func TestDrawing(t *testing.T) {
	d := xorDrawing([]int{0, 1}, []string{"x", "y"},
		view.Scatter{X: []float64{0.1, 1e-300}, Y: []float64{3, -4}})
	d.Figure = tsangFigure1()
	var b bytes.Buffer
	if err := d.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatalf("%d lines, error %v: want a header and two rows", len(rows), err)
	}
	for i, row := range d.Rows {
		for j, want := range row {
			if got, err := strconv.ParseFloat(rows[i+1][j], 64); err != nil || got != want {
				t.Errorf("value (%d, %d) is %q: want %v", i, j, rows[i+1][j], want)
			}
		}
	}
	if page := d.Markdown(); !strings.Contains(page, "| class | x | y |") ||
		!strings.Contains(page, "Figure 1 of Tsang") {
		t.Errorf("page %q", page)
	}
	names := map[string]bool{}
	for _, f := range Figures() {
		if names[f.Name] || f.Draw == nil || f.Caption == "" || len(f.Setup) == 0 {
			t.Errorf("figure %q is incomplete or listed twice", f.Name)
		}
		names[f.Name] = true
		if _, err := LookupFigure(f.Name); err != nil {
			t.Error(err)
		}
	}
	var pe *fault.ParamError
	if _, err := LookupFigure("tsang-fig9"); !errors.As(err, &pe) {
		t.Errorf("error %v: want a ParamError", err)
	}
}
