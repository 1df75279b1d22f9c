package paper

import (
	"context"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/internal/racetest"
)

// TestLuTrial: a trial gives a percentage for every system and set, the same in a second run, and
// draws labeled points of more than one class.
func TestLuTrial(t *testing.T) {
	racetest.Skip(t, "a table of a paper; others run trials side by side too")
	table, eng := luFigure2(), scopEngine(t)
	trial := Trial{Number: 3, Data: realData(t), seed: 5}
	shared, err := table.Prepare(context.Background(), eng, trial)
	if err != nil {
		t.Fatal(err)
	}
	trial.Shared = shared
	first, err := table.Trial(context.Background(), eng, trial)
	if err != nil {
		t.Fatal(err)
	}
	second, err := table.Trial(context.Background(), eng, trial)
	if err != nil {
		t.Fatal(err)
	}
	if err := table.check(first); err != nil {
		t.Fatal(err)
	}
	for r, row := range first {
		if slices.Contains(table.Timed, table.Rows[r].Name) {
			if slices.Min(row) <= 0 {
				t.Errorf("%s: %v", table.Rows[r].Name, row)
			}
			continue // times differ
		}
		if !slices.Equal(row, second[r]) || slices.Min(row) < 0 || slices.Max(row) > 75 {
			t.Errorf("%s: errors %v, again %v", table.Rows[r].Name, row, second[r])
		}
	}
	c, err := newLuCase(shared.([]*labeled)[0], trial.Rand(1), 1)
	if err != nil {
		t.Fatal(err)
	}
	if must, cannot := c.set.Count(); must+cannot != luTrain*(luTrain-1)/2 || cannot == 0 {
		t.Errorf("%d must-links and %d cannot-links of %d points", must, cannot, luTrain)
	}
}

// TestLeftOut: the label of a point that is left out does not change the class that it gets, and
// the class is that of a fit to the others alone.
func TestLeftOut(t *testing.T) {
	table, eng, ctx := luFigure2(), scopEngine(t), context.Background()
	trial := Trial{Data: realData(t), seed: 7}
	shared, err := table.Prepare(ctx, eng, trial)
	if err != nil {
		t.Fatal(err)
	}
	c, err := newLuCase(shared.([]*labeled)[1], trial.Rand(1), 1)
	if err != nil {
		t.Fatal(err)
	}
	k, err := resolved(ctx, eng, "rbf:sigma=mean", c.train)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i := range 6 {
		first, err := c.leftOut(ctx, eng, k.Spec(), i)
		if err != nil {
			t.Fatal(err)
		}
		if first == c.labels[i] {
			right++
		}
		kept := c.labels[i]
		c.labels[i] = "none"
		again, err := c.leftOut(ctx, eng, k.Spec(), i)
		if c.labels[i] = kept; err != nil || again != first {
			t.Errorf("point %d is in class %s, and in %s under another label, error %v", i, first, again, err)
		}
	}
	if right < 4 {
		t.Errorf("%d of 6 points are in their classes: want most", right)
	}
}
