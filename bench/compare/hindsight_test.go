package compare

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/bench/paper"
)

// All choices are compared with the best candidate. A candidate that failed does not count, and a
// choice may be better than all candidates.
func TestHindsightTrial(t *testing.T) {
	scores := map[string]float64{"a": 0.7, "b": math.NaN(), "c": 0.8, "x": 0.795, "y": 0.785, "z": 0.9,
		"w": 0.5, "f": math.NaN()}
	got, err := hindsightTrial([]string{"x", "y", "z", "w", "f"}, []string{"a", "b", "c"},
		func(system string) (float64, error) {
			return scores[system], nil
		})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]float64{{0.795, 0.8, 1, 1}, {0.785, 0.8, 0, 1}, {0.9, 0.8, 1, 1},
		{0.5, 0.8, 0, 0}} {
		if !slices.Equal(got[i], want) {
			t.Errorf("row %d: %v, want %v", i, got[i], want)
		}
	}
	if f := got[4]; !math.IsNaN(f[chosenRand]) || !math.IsNaN(f[withinOne]) || f[bestRand] != 0.8 {
		t.Errorf("a choice that failed: %v", f)
	}
	if len(got) != 8 || !slices.Equal(got[5], []float64{0.7, 0.8, 0, 0}) ||
		!slices.Equal(got[7], []float64{0.8, 0.8, 1, 1}) {
		t.Errorf("rows of candidates: %v", got[5:])
	}
	broken := errors.New("stopped")
	if _, err := hindsightTrial([]string{"x"}, []string{"a"}, func(string) (float64, error) {
		return 0, broken
	}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// Compared with the mean of one candidate, a choice may be worse in some repetitions. A candidate
// that failed does not count, nor does a set without a score.
func TestHindsightSteadiest(t *testing.T) {
	set := func(means ...float64) *paper.Result {
		r := &paper.Result{}
		for _, v := range means {
			r.Ours = append(r.Ours, []paper.Value{{Mean: v}})
		}
		return r
	}
	h := &Hindsight{Systems: []string{"x", "y"}, Results: []*paper.Result{
		set(0.795, 0.785, 0.7, math.NaN(), 0.8), set(0.79, 0.615, 0.6, 0.62, 0.6),
		set(math.NaN(), 0.1, 0.5, 0.4, 0.3),
	}}
	for k, want := range []float64{0.8, 0.62, 0.5} {
		if got := h.steadiest(h.Results[k]); got != want {
			t.Errorf("set %d: %v, want %v", k, got, want)
		}
	}
	for system, want := range []float64{1, 1.0 / 3} {
		if got := h.near(system, 0.01); math.Abs(got-want) > 1e-15 {
			t.Errorf("system %d: near on %v of the sets, want %v", system, got, want)
		}
	}
	if got := h.near(1, 0.02); math.Abs(got-2.0/3) > 1e-15 {
		t.Errorf("within 0.02 on %v of the sets, want 2/3", got)
	}
}
