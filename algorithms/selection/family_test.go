package selection

import (
	"context"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/internal/racetest"
)

// Candidates of a shared fit have the scores of separate fits, and an invalid value affects only
// its own candidate.
func TestFamiliesAreTheFits(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 2)
	x, _, set := enginetest.Bands(t, 150, 4, 60, 1)
	var values []string
	for v := range racetest.Fewer(12) {
		values = append(values, strconv.FormatFloat(math.Pow(10, -6+float64(v)/2), 'g', 3, 64))
	}
	values = append(values, "1e300") // n eps would overflow
	list, err := Grid([]string{"krca", "rca"}, []Axis{{"dims", []string{"0"}}, {"kernel", []string{"linear",
		"rbf:sigma=msq"}}, {"eps_rel", values}})
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Candidates = list
	j, err := newEvaluator(x, set, &o)
	if err != nil {
		t.Fatal(err)
	}
	s := &search{evaluator: j, trials: make([]Trial, len(list))}
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
				if (err == nil) != (got.err == nil) || !(math.Abs(got.score.Value-want.Value) <= 1e-12) {
					t.Errorf("%s, fold %d: %v (%v), by a fit of its own %v (%v)", members[k], f, got.score,
						got.err, want, err)
				}
				seen++
			}
			if err := s.pathScores(ctx, eng, members[:len(members)-1], f,
				make([]outcome, len(members))); err != nil {
				t.Errorf("one fit for all: %v", err)
			}
		}
	}
	if seen != 2*len(values)*o.Folds {
		t.Errorf("%d scores", seen)
	}
}

// Paths of npkl over C and of kbeta over reg_d give the scores of separate fits. The scores are
// bit-identical for any order of the candidates and any number of workers.
func TestPathFamilies(t *testing.T) {
	ctx := context.Background()
	x, _, set := enginetest.Bands(t, 150, 4, 60, 1)
	list, err := Grid([]string{"npkl", "kbeta"}, []Axis{
		{"C", []string{"4", "0.5", "1", "2"}}, {"delta", []string{"0.2", "0.4"}}, {"tol", []string{"1e-8"}},
		{"reg_d", []string{"1e-2", "1e-6", "0.3"}}, {"iterations", []string{"1", "2"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Candidates = list
	j, err := newEvaluator(x, set, &o)
	if err != nil {
		t.Fatal(err)
	}
	s := &search{evaluator: j, trials: make([]Trial, len(list))}
	all := make([]int, len(list))
	for i := range list {
		s.trials[i].Candidate, all[i] = list[i], i
	}
	families := s.families(all)
	if len(list) != 8+6 || len(families) != 4 {
		t.Fatalf("%d candidates in %d families, want 14 in two of npkl and two of kbeta", len(list),
			len(families))
	}
	eng := enginetest.New(t, 2)
	for _, family := range families {
		var members []Candidate
		for _, i := range family {
			members = append(members, list[i])
		}
		got := make([]outcome, len(members))
		if err := s.pathScores(ctx, eng, members, 0, got); err != nil {
			t.Fatal(err)
		}
		for k, c := range members {
			want, err := s.score(ctx, eng, c, 0)
			if err != nil || !(math.Abs(got[k].score.Value-want.Value) <= 1e-9) {
				t.Errorf("%s: score %v, by a fit of its own %v (%v)", c, got[k].score.Value, want.Value, err)
			}
		}
	}
	scores := func(workers int, candidates []Candidate) map[string][]float64 {
		o.Candidates = candidates
		r, err := Select(ctx, enginetest.New(t, workers), x, set, o)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string][]float64{}
		for _, trial := range r.Trials {
			out[trial.Candidate.String()] = trial.Scores
		}
		return out
	}
	turned := slices.Clone(list)
	slices.Reverse(turned)
	first, second := scores(1, list), scores(3, turned)
	for name, want := range first {
		if !slices.Equal(second[name], want) {
			t.Errorf("%s: scores %v in another order and on three workers, %v", name, second[name], want)
		}
	}
}
