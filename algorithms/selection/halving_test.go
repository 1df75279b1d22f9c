package selection

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/engine/enginetest"
)

// fitted returns the folds on which each candidate was fitted, in the order of the state file.
func fitted(t *testing.T, path string) map[string][]int {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	out := map[string][]int{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		out[e.Candidate] = append(out[e.Candidate], e.Fold)
	}
	return out
}

// Halving drops whole families after the first fold, fits no dropped candidate again, and fits none
// twice on a fold. What it drops was behind what it keeps on the folds that both have, but for the
// incumbent, which it always keeps. The report of the progress is right to the last fit.
func TestHalving(t *testing.T) {
	x, _, set := rings(t)
	list, err := Grid([]string{"krca", "rca", "itml"},
		[]Axis{{"eps_rel", []string{"1e-3", "1e-2", "0.1", "0.3"}},
			{"kernel", []string{"rbf:sigma=msq", "linear"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, incumbent := range []*Candidate{nil, {Method: "itml"}, &list[0]} {
		o := DefaultOptions()
		var last algorithms.Progress
		o.Candidates, o.Incumbent, o.State = list, incumbent, filepath.Join(t.TempDir(), "state")
		o.Progress = func(p algorithms.Progress) { last = p }
		r, err := Select(t.Context(), enginetest.New(t, 2), x, set, o)
		if err != nil {
			t.Fatal(err)
		}
		j, err := newEvaluator(x, set, &o)
		if err != nil {
			t.Fatal(err)
		}
		made, total := fitted(t, o.State), 0
		for k, trial := range r.Trials {
			folds := made[trial.Candidate.String()]
			slices.Sort(folds)
			total += len(folds)
			if want := []int{0, 1, 2, 3, 4}[:len(trial.Scores)]; !slices.Equal(folds, want) ||
				!slices.Contains([]int{1, 3, 5}, len(folds)) {
				t.Errorf("%s has the folds %v, want %v, after one, two or three rounds", trial.Candidate,
					folds, want)
			}
			for _, better := range r.Trials[:k] {
				kept := incumbent != nil && better.Candidate.String() == incumbent.String()
				have := len(trial.Scores)
				if ours, _ := verdict.Combine(j.weighted(better.figures[:have])); !kept &&
					len(better.Scores) > have &&
					ours < trial.Mean {
					t.Errorf("%s was dropped with %v, and %s kept with %v", trial.Candidate, trial.Mean,
						better.Candidate, ours)
				}
			}
		}
		if total != r.Fits || last.Done != total || last.Total != total {
			t.Errorf("%d fits, reported %d, progress %d of %d", total, r.Fits, last.Done, last.Total)
		}
		if full := len(list) * o.Folds; total > full/2 {
			t.Errorf("%d fits, without halving %d", total, full)
		}
		if first := r.Trials[0].Candidate; first.Method != "krca" || first.Kernel == "linear" {
			t.Errorf("%s is the best on rings", first)
		}
	}
}

// The incumbent takes no place from its challengers: the best three are compared with it on all
// folds.
func TestHalvingKeepsAChallenger(t *testing.T) {
	x, _, set := rings(t)
	o := DefaultOptions()
	o.Candidates, o.Incumbent = candidates("rca", "krca", "xiang", "dca", "itml", "xrca", "mmc", "lsml"),
		&Candidate{Method: "rca"}
	r, err := Select(t.Context(), enginetest.New(t, 1), x, set, o)
	if err != nil {
		t.Fatal(err)
	}
	scored := map[int]int{}
	for _, trial := range r.Trials {
		scored[len(trial.Scores)]++
	}
	if scored[5] != fewest+1 || scored[1] != len(o.Candidates)-fewest-1 {
		t.Errorf("candidates by number of folds: %v, want three and the incumbent on all five", scored)
	}
	if r.Best.Method != "krca" || len(r.Trials[0].Scores) != o.Folds || r.Trials[0].Ahead == nil {
		t.Errorf("%s is selected of %+v", r.Best, r.Trials)
	}
}
