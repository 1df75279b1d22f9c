package selection

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/drawstest"
)

// Without anything to learn, one selection of twenty among several methods takes another one than
// the points themselves, whatever the criterion, and the gain that it states is not above 0 by
// much.
func TestNothingToSelect(t *testing.T) {
	for _, criterion := range []Criterion{Ranking, Agreement, Combined} {
		tries, chosen, gains, squares := drawstest.Count(20, 60), 0, 0.0, 0.0
		for k := range tries {
			r := rand.New(rand.NewPCG(uint64(k), 41))
			const n, d = 80, 6
			x, labels := &points.Dense{N: n, D: d, Data: make([]float64, n*d)}, make([]string, n)
			for i := range x.Data {
				x.Data[i] = r.NormFloat64()
			}
			for i := range labels {
				labels[i] = string(rune('a' + r.IntN(3)))
			}
			o := DefaultOptions()
			o.Candidates, o.Criterion, o.Clusters, o.Seed = candidates("krca", "itml", "lleratio", "xrca",
				"gml"), criterion, 3, uint64(k)
			s, err := Select(t.Context(), enginetest.New(t, 1), x,
				enginetest.Drawn(t, labels, 60, 60, uint64(k)), o)
			if err != nil {
				t.Fatal(err)
			}
			if s.Best.Method != Raw {
				chosen++
			}
			if v := s.Verdict(); criterion == Ranking && (v == nil ||
				(v.Found == "better") != (s.Best.Method != Raw) || v.Validate() != nil) {
				t.Errorf("%s is selected, verdict %+v", s.Best, v)
			}
			gains, squares = gains+s.Gain, squares+s.Gain*s.Gain
		}
		n := float64(tries)
		mean := gains / n
		err := math.Sqrt((squares/n - mean*mean) / n)
		if rate := float64(chosen) / n; rate > chance+3*math.Sqrt(chance*(1-chance)/n) || mean > 0.02+3*err {
			t.Errorf("%s: %.3f of %d selections take a method, mean gain %.4f ± %.4f", criterion, rate, tries,
				mean,
				err)
		}
		t.Logf("%s: %d of %d, gain %.4f ± %.4f", criterion, chosen, tries, mean, err)
	}
}

// The gain of a selection is that of choices on the other folds, by hand.
func TestGainOfTheChoice(t *testing.T) {
	x, _, set := rings(t)
	o := DefaultOptions()
	o.Candidates, o.Halving = candidates("rca", "krca", "itml"), false
	r, err := Select(t.Context(), enginetest.New(t, 2), x, set, o)
	if err != nil {
		t.Fatal(err)
	}
	j, err := newEvaluator(x, set, &o)
	if err != nil {
		t.Fatal(err)
	}
	want, total := 0.0, 0.0
	for f := range j.folds {
		best, gain := 0.0, 0.0
		for _, trial := range r.Trials {
			others, weights := 0.0, 0.0
			for g := range j.folds {
				if g != f {
					others += j.weight(g) * (trial.Scores[g] - r.Raw.Scores[g])
					weights += j.weight(g)
				}
			}
			if others/weights > best {
				best, gain = others/weights, trial.Scores[f]-r.Raw.Scores[f]
			}
		}
		want, total = want+j.weight(f)*gain, total+j.weight(f)
	}
	if math.Abs(r.Gain-want/total) > 1e-12 || r.Gain < 0.2 || r.Best.Method != "krca" {
		t.Errorf("gain %v, by hand %v; %s", r.Gain, want/total, r.Best)
	}
}
