package selection

import (
	"context"
	"math"
	"strconv"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
)

// Candidates that one fit serves have the scores that each has from a fit of its own, and a value that cannot be used
// fails alone.
func TestFamiliesAreTheFits(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 2)
	x, _, set := enginetest.Bands(t, 150, 4, 60, 1)
	var values []string
	for v := range 12 {
		values = append(values, strconv.FormatFloat(math.Pow(10, -6+float64(v)/2), 'g', 3, 64))
	}
	values = append(values, "1e300") // n eps would overflow
	list, err := Grid([]string{"krca", "rca"}, []Axis{{"kernel", []string{"linear", "rbf:sigma=msq"}}, {"eps_rel", values}})
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Candidates = list
	j, err := newJudge(x, set, &o)
	if err != nil {
		t.Fatal(err)
	}
	s := &search{judge: j, trials: make([]Trial, len(list))}
	all := make([]int, len(list))
	for i := range list {
		s.trials[i].Candidate, all[i] = list[i], i
	}
	families := s.families(all)
	if want := 2 + len(values); len(families) != want {
		t.Fatalf("%d families, want 2 of krca and %d of rca", len(families), len(values))
	}
	seen := 0
	for _, family := range families[:2] {
		var members []Candidate
		for _, i := range family {
			members = append(members, list[i])
		}
		for f := range o.Folds {
			for k, got := range s.scores(ctx, eng, members, f) {
				want, err := s.score(ctx, eng, members[k], f)
				if (err == nil) != (got.err == nil) || !(math.Abs(got.score-want) <= 1e-12) {
					t.Errorf("%s, fold %d: %v (%v), by a fit of its own %v (%v)", members[k], f, got.score, got.err, want, err)
				}
				seen++
			}
			if _, err := s.pathScores(ctx, eng, members[:len(members)-1], f); err != nil {
				t.Errorf("one fit for all: %v", err)
			}
		}
	}
	if seen != 2*len(values)*o.Folds {
		t.Errorf("%d scores", seen)
	}
}
