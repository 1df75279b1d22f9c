package compare

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// The best of the candidates is what all choices are held against; a candidate that failed is none, and a choice may be better than all.
func TestHindsightTrial(t *testing.T) {
	scores := map[string]float64{"a": 0.7, "b": math.NaN(), "c": 0.8, "x": 0.795, "y": 0.785, "z": 0.9, "w": 0.5, "f": math.NaN()}
	got, err := hindsightTrial([]string{"x", "y", "z", "w", "f"}, []string{"a", "b", "c"}, func(system string) (float64, error) { return scores[system], nil })
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]float64{{0.795, 0.8, 1, 1}, {0.785, 0.8, 0, 1}, {0.9, 0.8, 1, 1}, {0.5, 0.8, 0, 0}} {
		if !slices.Equal(got[i], want) {
			t.Errorf("row %d: %v, want %v", i, got[i], want)
		}
	}
	if f := got[4]; !math.IsNaN(f[chosenRand]) || !math.IsNaN(f[withinOne]) || f[bestRand] != 0.8 {
		t.Errorf("a choice that failed: %v", f)
	}
	broken := errors.New("stopped")
	if _, err := hindsightTrial([]string{"x"}, []string{"a"}, func(string) (float64, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}
