package selection

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// rings returns points that only nonlinear methods separate, with links.
func rings(t testing.TB) (*points.Dense, []string, *links.Set) {
	t.Helper()
	x, labels, _ := enginetest.Rings(t, 80, 5, 3)
	set, err := links.SampleByCount(labels, 60, 60, 4)
	if err != nil {
		t.Fatal(err)
	}
	return x, labels, set
}

func candidates(lines ...string) []Candidate {
	var out []Candidate
	for _, line := range lines {
		words := strings.Fields(line)
		c := Candidate{Method: words[0], Params: map[string]string{}}
		for _, w := range words[1:] {
			name, value, _ := strings.Cut(w, "=")
			if name == kernelAxis {
				c.Kernel = value
			} else {
				c.Params[name] = value
			}
		}
		out = append(out, c)
	}
	return out
}

// On rings every criterion prefers a kernel method to a linear one, for any number of workers. Half
// of a state file, and halving, lead to the same selection.
func TestSelect(t *testing.T) {
	ctx := context.Background()
	x, labels, set := rings(t)
	for _, criterion := range Criteria() {
		o := DefaultOptions()
		o.Candidates = candidates("rca", "krca", "krca kernel=linear eps_rel=1e-2", "xiang")
		o.Criterion, o.Clusters, o.Folds, o.Labels, o.Halving = Criterion(criterion), 2, 3, labels, false
		r, err := Select(ctx, enginetest.New(t, 1), x, set, o)
		if err != nil {
			t.Fatalf("%s: %v", criterion, err)
		}
		best := "krca"
		if o.Criterion == Labels { // the nearest labels are right without learning
			best = Raw
		}
		if r.Best.String() != best || r.Trials[0].Candidate.String() != "krca" || r.Fits != 12 ||
			len(r.Trials) != 4 || r.Trials[0].Mean < r.Trials[1].Mean {
			t.Errorf("%s: best is %s, the first %s", criterion, r.Best, r.Trials[0].Candidate)
		}
		o.State = filepath.Join(t.TempDir(), "state")
		for _, workers := range []int{3, 2} {
			again, err := Select(ctx, enginetest.New(t, workers), x, set, o)
			if err != nil {
				t.Fatal(err)
			}
			for k := range r.Trials {
				if !slices.Equal(r.Trials[k].Scores, again.Trials[k].Scores) ||
					r.Trials[k].Candidate.String() != again.Trials[k].Candidate.String() {
					t.Errorf("%s, %d workers: %+v, by one %+v", criterion, workers, again.Trials[k],
						r.Trials[k])
				}
			}
			if want := map[int]int{3: 0, 2: 12}[workers]; again.Resumed != want {
				t.Errorf("%s: %d fits from the state file: want %d", criterion, again.Resumed, want)
			}
		}
		o.State, o.Halving = "", true
		half, err := Select(ctx, enginetest.New(t, 2), x, set, o)
		if err != nil || half.Best.String() != best || half.Fits >= r.Fits || len(half.Trials) != 4 {
			t.Errorf("%s, halving: %v, error %v", criterion, half.Best, err)
		}
	}
}

// On every fold the combined score is the mean of the two others, although ranking comes from
// paths.
func TestCombined(t *testing.T) {
	x, labels, set := rings(t)
	scores := map[Criterion]map[string][]float64{}
	for _, criterion := range []Criterion{Ranking, Agreement, Combined} {
		o := DefaultOptions()
		o.Candidates = candidates("rca", "krca", "krca eps_rel=1e-2")
		o.Criterion, o.Clusters, o.Folds, o.Labels, o.Halving = criterion, 2, 3, labels, false
		r, err := Select(context.Background(), enginetest.New(t, 2), x, set, o)
		if err != nil {
			t.Fatalf("%s: %v", criterion, err)
		}
		scores[criterion] = map[string][]float64{}
		for _, trial := range r.Trials {
			scores[criterion][trial.Candidate.String()] = trial.Scores
		}
	}
	for name, got := range scores[Combined] {
		for f, v := range got {
			if want := (scores[Ranking][name][f] + scores[Agreement][name][f]) / 2; math.Abs(v-want) > 1e-3 {
				t.Errorf("%s, fold %d: %v, want %v", name, f+1, v, want)
			}
		}
		if len(got) != 3 {
			t.Errorf("%s: %d scores, want 3", name, len(got))
		}
	}
}

// Failed candidates are listed last with their reason. If all fail, that is an error.
func TestFailing(t *testing.T) {
	x, _, set := rings(t)
	o := DefaultOptions()
	o.Candidates = candidates("npkl neighbors=500", "krca")
	r, err := Select(context.Background(), enginetest.New(t, 2), x, set, o)
	if err != nil {
		t.Fatal(err)
	}
	if last := r.Trials[1]; r.Best.Method != "krca" || last.Candidate.Method != "npkl" ||
		!strings.Contains(last.Error, "neighbors") || last.Mean != 0 {
		t.Errorf("%+v", r.Trials)
	}
	o.Halving = true
	if r, err = Select(context.Background(), enginetest.New(t, 2), x, set, o); err != nil ||
		r.Best.Method != "krca" || len(r.Trials[0].Scores) != 5 {
		t.Errorf("halving: %+v, error %v", r, err)
	}
	o.Candidates = o.Candidates[:1]
	if _, err := Select(context.Background(), enginetest.New(t, 2), x, set, o); err == nil ||
		!strings.Contains(err.Error(), "all 1 candidates fail") {
		t.Errorf("error %v", err)
	}
}

// Without cannot-links, must-links are compared with random pairs.
func TestMustLinksAlone(t *testing.T) {
	x, labels, _ := rings(t)
	set, err := links.SampleByCount(labels, 40, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Candidates = candidates("rca", "krca")
	r, err := Select(context.Background(), enginetest.New(t, 1), x, set, o)
	if err != nil || r.Best.Method != "krca" {
		t.Errorf("%+v, error %v", r, err)
	}
}

// Every method of the catalog that learns from links can be a candidate with its defaults.
func TestEveryMethod(t *testing.T) {
	x, _, set := rings(t)
	o := DefaultOptions()
	o.Folds = 2
	for _, m := range catalog.Methods() {
		if !m.UsesTargets {
			o.Candidates = append(o.Candidates, Candidate{Method: m.Name})
		}
	}
	r, err := Select(context.Background(), enginetest.New(t, 2), x, set, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range r.Trials {
		if trial.Error != "" {
			t.Errorf("%s: %s", trial.Candidate, trial.Error)
		}
	}
}

// A grid has all combinations of the axes of a method, in order.
func TestGrid(t *testing.T) {
	list, err := Grid([]string{"krca", "rca"},
		[]Axis{{"eps_rel", []string{"1", "2"}}, {"kernel", []string{"linear", "exp:lle"}}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range list {
		got = append(got, c.String())
	}
	want := []string{"krca kernel=linear eps_rel=1", "krca kernel=exp:lle eps_rel=1",
		"krca kernel=linear eps_rel=2", "krca kernel=exp:lle eps_rel=2", "rca eps_rel=1", "rca eps_rel=2"}
	if !slices.Equal(got, want) {
		t.Errorf("%q: want %q", got, want)
	}
	if few := Sample(list, 3, 1); len(few) != 3 || !slices.IsSortedFunc(few, func(a, b Candidate) int {
		return slices.Index(got, a.String()) - slices.Index(got, b.String())
	}) {
		t.Errorf("%v is no sample in order", few)
	}
	if all := Sample(list, 100, 1); len(all) != len(list) {
		t.Errorf("a sample of %d of %d", len(all), len(list))
	}
	for name, f := range map[string]func() error{
		"unknown method": func() error { _, err := Grid([]string{"krac"}, nil); return err },
		"unknown parameter": func() error {
			_, err := Grid([]string{"rca"}, []Axis{{"gamma", []string{"1"}}})
			return err
		},
		"no value": func() error {
			_, err := Grid([]string{"rca"}, []Axis{{"eps_rel", nil}})
			return err
		},
	} {
		if err := f(); !fault.IsInput(err) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Every default grid consists of valid candidates and includes the method's defaults.
func TestDefaults(t *testing.T) {
	names := []string{"lleratio", "gml", "krca"}
	var want, wantKernels []Candidate
	kernels := []Axis{{kernelAxis, []string{"cosine", "rbf:sigma=mean"}}}
	for _, name := range names {
		with, err := Grid([]string{name}, kernels)
		if err != nil {
			t.Fatal(err)
		}
		wantKernels = append(wantKernels, with...)
		list, err := Grid([]string{name}, DefaultGrid(name))
		if err != nil || len(list) < 2 {
			t.Fatalf("%s: %d candidates, error %v: want several", name, len(list), err)
		}
		want = append(want, list...)
	}
	if got, err := Grid(names, kernels); err != nil || fmt.Sprint(got) != fmt.Sprint(wantKernels) {
		t.Errorf("candidates %v, error %v: want those of each method in turn, %v", got, err, wantKernels)
	}
	if got, err := Defaults(names); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("candidates %v, error %v: want those of each method in turn, %v", got, err, want)
	}
	list, err := Defaults(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		if _, err := c.Learner(catalog.Config{Seed: 1}); err != nil {
			t.Errorf("%s: %v", c, err)
		}
	}
	for _, name := range []string{"krca", "kbeta", "npkl", "lleratio", "gml", "itml", "rca", "xrca", "dca",
		"mmc", "lmnn"} {
		for _, axis := range DefaultGrid(name) {
			if !hasDefault(t, name, axis) {
				t.Errorf("%s: the default of %s is not among %v", name, axis.Name, axis.Values)
			}
		}
	}
}

// hasDefault reports whether the default of a parameter is among the values.
func hasDefault(t *testing.T, name string, axis Axis) bool {
	t.Helper()
	m, err := catalog.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	if axis.Name == kernelAxis {
		return slices.Contains(axis.Values, m.DefaultKernel)
	}
	for _, p := range m.Parameters {
		if p.Name != axis.Name {
			continue
		}
		want, numberErr := strconv.ParseFloat(p.Default, 64)
		for _, v := range axis.Values {
			if got, err := strconv.ParseFloat(v, 64); v == p.Default || numberErr == nil && err == nil &&
				got == want {
				return true
			}
		}
		return p.Default == "auto" && slices.Contains(axis.Values, "0.2")
	}
	return false
}

func TestMistakes(t *testing.T) {
	ctx, eng := context.Background(), enginetest.New(t, 1)
	x, labels, set := rings(t)
	few, err := links.SampleByCount(labels, 1, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	torn := filepath.Join(t.TempDir(), "torn")
	if err := os.WriteFile(torn, []byte("not a state file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(o *Options) *links.Set{
		"no candidate": func(o *Options) *links.Set { o.Candidates = nil; return set },
		"one twice": func(o *Options) *links.Set {
			o.Candidates = candidates("rca", "rca")
			return set
		},
		"unknown method": func(o *Options) *links.Set { o.Candidates = candidates("krac"); return set },
		"unknown parameter": func(o *Options) *links.Set {
			o.Candidates = candidates("rca eps=1")
			return set
		},
		"one fold":          func(o *Options) *links.Set { o.Folds = 1; return set },
		"too few links":     func(*Options) *links.Set { return few },
		"unknown criterion": func(o *Options) *links.Set { o.Criterion = "luck"; return set },
		"no clusters":       func(o *Options) *links.Set { o.Criterion = Agreement; return set },
		"no labels":         func(o *Options) *links.Set { o.Criterion = Labels; return set },
		"labels of nothing": func(o *Options) *links.Set {
			o.Criterion = Labels
			o.Labels = make([]string, x.N)
			return set
		},
		"another state file": func(o *Options) *links.Set { o.State = torn; return set },
	} {
		o := DefaultOptions()
		o.Candidates = candidates("rca", "krca")
		with := change(&o)
		if _, err := Select(ctx, eng, x, with, o); !fault.IsInput(err) && name != "labels of nothing" ||
			err == nil {
			t.Errorf("%s: error %v, want one of the input", name, err)
		}
	}
	stopped, stop := context.WithCancel(ctx)
	o := DefaultOptions()
	o.Candidates = candidates("rca", "krca")
	o.Progress = func(algorithms.Progress) { stop() }
	if _, err := Select(stopped, eng, x, set, o); !errors.Is(err, context.Canceled) ||
		!strings.Contains(err.Error(), "canceled after ") {
		t.Errorf("canceled: error %v, want how many fits there were", err)
	}
}

// A line that a crash has cut short is removed, and its fit repeated.
func TestTornState(t *testing.T) {
	x, _, set := rings(t)
	o := DefaultOptions()
	o.Candidates, o.State, o.Halving = candidates("rca", "krca"), filepath.Join(t.TempDir(), "state"), false
	first, err := Select(context.Background(), enginetest.New(t, 1), x, set, o)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(o.State)
	if err != nil {
		t.Fatal(err)
	}
	for cut := len(text) - 1; cut > len(text)-40; cut -= 13 {
		if err := os.WriteFile(o.State, text[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		again, err := Select(context.Background(), enginetest.New(t, 1), x, set, o)
		if err != nil {
			t.Fatal(err)
		}
		if again.Resumed != 9 || again.Best.String() != first.Best.String() {
			t.Errorf("cut at %d of %d: %d fits from the file, best %s", cut, len(text), again.Resumed,
				again.Best)
		}
		if now, _ := os.ReadFile(o.State); len(now) != len(text) {
			t.Errorf("cut at %d: the file has %d bytes: want %d", cut, len(now), len(text))
		}
	}
}

// A complete line of another program is not a line that a crash has cut short: it is kept.
func TestForeignState(t *testing.T) {
	x, _, set := rings(t)
	o := DefaultOptions()
	o.Candidates, o.State = candidates("rca"), filepath.Join(t.TempDir(), "state")
	const foreign = `{"run":"r","trial":0,"seconds":1,"values":[[1]]}` + "\n"
	if err := os.WriteFile(o.State, []byte(foreign), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Select(context.Background(), enginetest.New(t, 1), x, set, o); !fault.IsInput(err) {
		t.Errorf("error %v: want one about the file", err)
	}
	if now, _ := os.ReadFile(o.State); string(now) != foreign {
		t.Errorf("the file holds %q now", now)
	}
}
