package paper

import (
	"context"
	"math"
	"runtime"
	"testing"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/engine/score"
	"github.com/mustlink/mustlink/internal/race"
)

// TestFeatureJ: J in the feature space of the linear kernel is that of the points.
func TestFeatureJ(t *testing.T) {
	eng, err := engine.New(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := &points.Dense{N: 5, D: 2, Data: []float64{0, 0, 1, 0, 5, 5, 7, 1, 2, 2}}
	labels := []string{"a", "a", "b", "b", "a"}
	want, err := score.JRatio(x.Data, x.N, x.D, labels)
	if err != nil {
		t.Fatal(err)
	}
	got, err := featureJ(context.Background(), eng, kernel.Linear(), x, labels)
	if err != nil {
		t.Fatal(err)
	}
	if !(math.Abs(got-want) <= 1e-14*want) {
		t.Errorf("J is %v: want %v", got, want)
	}
}

// TestYeungXOR: in the first repetition of the table, the baselines have the printed values, and
// learning with landmarks is far above them.
func TestYeungXOR(t *testing.T) {
	race.Skip(t, "a table of a paper; others run trials side by side too")
	if testing.Short() {
		t.Skip("ten seconds")
	}
	eng, err := engine.New(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table := yeung1()
	r, err := Run(context.Background(), eng, table, Options{Seed: 1, Repetitions: 1})
	if err != nil {
		t.Fatal(err)
	}
	for c, v := range r.Ours[0] {
		printed := table.Rows[0].Printed[c].Mean
		within := 0.01
		switch {
		case c == 2:
			within = 0.05 // one set of pairs
		case c > 2:
			within = 2.5 // two of the printed standard deviations
		}
		if !(math.Abs(v.Mean-printed) <= within) {
			t.Errorf("%s: %v, printed %v", table.Columns[c], v.Mean, printed)
		}
	}
}

// TestSlope: the slope of a power is its exponent.
func TestSlope(t *testing.T) {
	x, y := []float64{1, 2, 5, 10}, make([]float64, 4)
	for i, v := range x {
		y[i] = 7 * math.Pow(v, 1.5)
	}
	if got := slope(x, y); !(math.Abs(got-1.5) <= 1e-12) {
		t.Errorf("slope %v: want 1.5", got)
	}
}

// TestYeungFigure1: with small sizes, every size has a time.
func TestYeungFigure1(t *testing.T) {
	race.Skip(t, "a table of a paper; others run trials side by side too")
	eng, err := engine.New(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	y := yeungTimes{basic: []int{60, 90}, points: []int{200, 400}, landmarks: 50, many: []int{40, 80}, of: 300, rounds: 1}
	d, err := y.draw(context.Background(), eng, Sketch{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Rows) != 6 || len(d.Notes) != 3 || len(d.Panels) != 3 {
		t.Errorf("%d rows, %d notes, %d panels: want 6, 3, 3", len(d.Rows), len(d.Notes), len(d.Panels))
	}
	for _, row := range d.Rows {
		// Windows's clock stands still for milliseconds.
		if !(row[2] > 0 || row[2] == 0 && runtime.GOOS == "windows") {
			t.Errorf("no time: %v", row)
		}
	}
}
