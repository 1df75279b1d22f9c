package paper

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/internal/race"
)

// TestHuConvergence: the sweeps of the small sets converge linearly, the objective never rises, and
// the page has the rates.
func TestHuConvergence(t *testing.T) {
	race.Skip(t, "a table of a paper; others run trials side by side too")
	d, err := huFigure1().Make(context.Background(), scopEngine(t), Sketch{Seed: 2, Data: realData(t)})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Notes) != 4 || len(d.Panels) != 2 {
		t.Fatalf("%d notes, %d panels", len(d.Notes), len(d.Panels))
	}
	for i := 1; i < len(d.Rows); i++ {
		a, b := d.Rows[i-1], d.Rows[i]
		if a[0] == b[0] && a[1] == b[1] && !(b[3] > 0 && b[3] <= a[3] && b[2] == a[2]+1) {
			t.Fatalf("after %v comes %v", a, b)
		}
	}
}

// TestHuTimes: a few small sizes have a row each, with accuracies above chance, and the notes have
// the exponents.
func TestHuTimes(t *testing.T) {
	race.Skip(t, "a table of a paper; others run trials side by side too")
	d, err := huTimes{sizes: []int{100, 200}, simple: 100}.draw(context.Background(), scopEngine(t), Sketch{Seed: 1, Data: realData(t)})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Rows) != 2 || len(d.Notes) != 4 || !strings.Contains(d.Notes[0], "SimpleNPKL") {
		t.Fatalf("rows %v, notes %q", d.Rows, d.Notes)
	}
	for _, row := range d.Rows {
		if !(row[1] >= row[2] && row[2] > 0 && row[4] > 0 && row[3] > 60 && row[5] > 60) {
			t.Errorf("row %v", row)
		}
	}
	g, err := huGrowth{sizes: []int{150, 300}, dim: 4, classes: 2}.draw(context.Background(), scopEngine(t), Sketch{Seed: 1})
	if err != nil || len(g.Rows) != 2 || len(g.Notes) != 2 {
		t.Fatalf("error %v, drawing %+v", err, g)
	}
}

// TestRate: the rate of a geometric sequence is its factor.
func TestRate(t *testing.T) {
	v := make([]float64, 30)
	for i := range v {
		v[i] = 5 * math.Pow(0.7, float64(i))
	}
	if got := rate(v); math.Abs(got-0.7) > 1e-12 {
		t.Errorf("rate %v: want 0.7", got)
	}
}

// TestHuLargeSets: the sets of Table 4 have the sizes that its page states, and rows of texts have
// unit length.
func TestHuLargeSets(t *testing.T) {
	race.Skip(t, "a table of a paper; others run trials side by side too")
	sets, err := loadHuLarge(Trial{Number: -1, Data: realData(t), seed: 1}, huLargeSets())
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []struct{ n, classes int }{{1993, 2}, {1943, 2}, {2198, 2}, {4000, 2}, {4000, 10}, {1560, 26}} {
		s := sets[k]
		if s.x.Len() != want.n || len(s.labels) != want.n || s.classes != want.classes || s.rows.Rows != want.n {
			t.Errorf("%s: %d points, %d classes, want %+v", s.name, s.x.Len(), s.classes, want)
		}
		if !s.text {
			continue
		}
		for i := range s.rows.Rows {
			sum := 0.0
			for _, v := range s.rows.Row(i) {
				sum += v * v
			}
			if sum != 0 && math.Abs(sum-1) > 1e-12 {
				t.Fatalf("%s: row %d has the squared length %g", s.name, i, sum)
			}
		}
	}
}

// realData returns the folder of data sets.
func realData(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("MUSTLINK_DATA")
	if folder == "" {
		t.Skip("MUSTLINK_DATA is not set")
	}
	if _, err := os.Stat(filepath.Join(folder, "iris.csv")); err != nil {
		t.Skip(err)
	}
	return folder
}
