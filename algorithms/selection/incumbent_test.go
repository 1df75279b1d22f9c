package selection

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
)

// The corrected standard error, computed by hand: differences .1, .2, .3 have the mean .2 and the
// standard deviation .1; with three folds the standard error is .1 (1/3 + 1/2)^1/2.
func TestAhead(t *testing.T) {
	s := &search{evaluator: &evaluator{o: &Options{Criterion: Stability}}}
	ahead := func(a, b []float64) float64 { return s.ahead(figures(a), figures(b)) }
	got := ahead([]float64{0.6, 0.7, 0.8}, []float64{0.5, 0.5, 0.5})
	if want := 0.2 / (0.1 * math.Sqrt(5.0/6)); math.Abs(got-want) > 1e-12 {
		t.Errorf("%v standard errors, want %v", got, want)
	}
	if got := ahead([]float64{0.5, 0.7}, []float64{0.5, 0.7}); got != 0 {
		t.Errorf("equal scores: %v", got)
	}
	if got := ahead([]float64{0.5, 0.75}, []float64{0.25, 0.5}); got != maxAhead {
		t.Errorf("the same gain on all folds: %v, want the maximum %v", got, float64(maxAhead))
	}
	if got := ahead([]float64{0.1, 0.4}, []float64{0.5, 0.7}); !(got < 0) {
		t.Errorf("worse: %v", got)
	}
}

// figures returns scores without the parts of their error.
func figures(scores []float64) []verdict.Statistic {
	out := make([]verdict.Statistic, len(scores))
	for f, v := range scores {
		out[f].Value = v
	}
	return out
}

// trialsOf returns a search over methods with the given scores of the folds.
func trialsOf(incumbent string, margin float64, scores map[string][]float64) (*search, *Result) {
	o := Options{Margin: margin, Criterion: Stability}
	s := &search{evaluator: &evaluator{o: &o, halves: make([][2]*links.Set, 4)}}
	for _, name := range []string{"krca", "kbeta", "npkl"} {
		c := Candidate{Method: name}
		o.Candidates = append(o.Candidates, c)
		trial := Trial{Candidate: c, Scores: scores[name], figures: figures(scores[name])}
		trial.Mean, trial.SD = spread(trial.Scores)
		s.trials = append(s.trials, trial)
	}
	if incumbent != "" {
		o.Incumbent = &Candidate{Method: incumbent}
	}
	order := []int{0, 1, 2}
	s.order(order)
	r := &Result{Best: s.trials[order[0]].Candidate}
	for _, i := range order {
		r.Trials = append(r.Trials, s.trials[i])
	}
	return s, r
}

// A candidate that is ahead by chance does not replace the incumbent. One that is ahead on every
// fold does, although its mean is not the best.
func TestIncumbent(t *testing.T) {
	scores := map[string][]float64{
		"krca":  {0.70, 0.70, 0.70, 0.70},
		"kbeta": {0.95, 0.60, 0.96, 0.61}, // .78, here more and there less
		"npkl":  {0.75, 0.76, 0.75, 0.76},
	}
	for _, c := range []struct {
		incumbent string
		margin    float64
		want      string
	}{{"", 1, "kbeta"}, {"krca", 1, "npkl"}, {"krca", 1e5, "krca"}, {"krca", 0, "kbeta"},
		{"kbeta", 0, "kbeta"}, {"npkl", 1, "npkl"}} {
		s, r := trialsOf(c.incumbent, c.margin, scores)
		s.choose(r)
		if r.Best.Method != c.want {
			t.Errorf("incumbent %q, margin %g: %s is chosen, want %s", c.incumbent, c.margin, r.Best, c.want)
		}
		for _, trial := range r.Trials {
			if (trial.Ahead != nil) != (c.incumbent != "" && trial.Candidate.Method != c.incumbent) {
				t.Errorf("incumbent %q: %s is ahead by %v", c.incumbent, trial.Candidate, trial.Ahead)
			}
		}
	}
	s, r := trialsOf("npkl", 1, scores)
	s.trials[2].Error = "broken"
	s.choose(r)
	if r.Best.Method != "kbeta" {
		t.Errorf("the incumbent failed, and %s is chosen", r.Best)
	}
}

// Halving never drops the incumbent: it is scored on every fold, and even the worst candidate is
// selected if the margin is out of reach.
func TestIncumbentStaysToTheLastRound(t *testing.T) {
	x, labels, _ := enginetest.Rings(t, 90, 2, 1)
	set, err := links.SampleByCount(labels, 40, 40, 1)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Defaults([]string{"krca", "itml"})
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Candidates, o.Halving = list, true
	plain, err := Select(t.Context(), enginetest.New(t, 0), x, set, o)
	if err != nil {
		t.Fatal(err)
	}
	worst := plain.Trials[len(plain.Trials)-1].Candidate
	o.Incumbent, o.Margin = &worst, maxAhead
	r, err := Select(t.Context(), enginetest.New(t, 0), x, set, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range r.Trials {
		if trial.Candidate.String() == worst.String() && len(trial.Scores) != o.Folds {
			t.Errorf("the incumbent has %d scores, want %d", len(trial.Scores), o.Folds)
		}
	}
	for _, trial := range r.Trials {
		clear := *trial.Gain > r.Needed**trial.GainError
		if trial.Candidate.String() == worst.String() && clear != (r.Best.String() == worst.String()) {
			t.Errorf("%s is chosen, the incumbent %s gains %v ± %v", r.Best, worst, *trial.Gain,
				*trial.GainError)
		}
	}
}

func TestIncumbentErrors(t *testing.T) {
	o := Options{Criterion: Ranking, Candidates: []Candidate{{Method: "krca"}}}
	var param *fault.ParamError
	o.Incumbent = &Candidate{Method: "itml"}
	if err := o.check(10); !errors.As(err, &param) || param.Param != "incumbent" {
		t.Errorf("no candidate: %v", err)
	}
	o.Incumbent = nil
	for _, margin := range []float64{-1, math.NaN(), math.Inf(1)} {
		o.Margin = margin
		if err := o.check(10); !errors.As(err, &param) || param.Param != "margin" {
			t.Errorf("margin %v: %v", margin, err)
		}
	}
}

func TestParse(t *testing.T) {
	for _, text := range []string{"krca", "krca kernel=rbf:sigma=mean eps_rel=1e-2",
		"gml gamma=3 width=0.5"} {
		c, err := Parse(text)
		if err != nil || c.String() != text {
			t.Errorf("%q is read as %q: %v", text, c, err)
		}
	}
	var param *fault.ParamError
	for _, text := range []string{"", "none", "krca eps_rel", "krca eps_rel=", "krca =1", "krca width=1",
		"itml kernel=rbf"} {
		if _, err := Parse(text); !errors.As(err, &param) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The first choice is blend with its defaults, and only if it is a candidate. A candidate is
// included once.
func TestFirstChoice(t *testing.T) {
	list, err := Defaults(nil)
	if err != nil {
		t.Fatal(err)
	}
	first := FirstChoice(list)
	if first == nil || first.String() != "blend" {
		t.Fatalf("the first choice among the defaults is %v", first)
	}
	if again := Including(list, *first); len(again) != len(list) {
		t.Errorf("%d candidates after blend was included again, want %d", len(again), len(list))
	}
	rest := candidates("blend dims=5", "krca")
	if got := FirstChoice(rest); got != nil {
		t.Errorf("%s is the first choice, but no candidate", got)
	}
	if all := Including(rest, *first); len(all) != 3 || all[0].String() != "blend" || duplicate(all) != nil {
		t.Errorf("with blend: %v", all)
	}
}

// The incumbent for rows of unit length is the method that a fit takes for them, in front of the
// candidates; one that was named stays, and so does blend for other rows.
func TestIncumbentOfEmbeddings(t *testing.T) {
	eng := enginetest.New(t, 0)
	x := enginetest.Normal(rand.New(rand.NewPCG(8, 1)), 60, 40, 0)
	set, err := links.New(60, []links.Link{links.NewLink(0, 1, links.Must),
		links.NewLink(2, 3, links.Cannot)})
	if err != nil {
		t.Fatal(err)
	}
	named := func(names ...string) (o Options) {
		if o.Candidates, err = Grid(names, nil); err != nil {
			t.Fatal(err)
		}
		o.Incumbent = FirstChoice(o.Candidates)
		if err := o.Among(eng, x, set); err != nil {
			t.Fatal(err)
		}
		return o
	}
	if o := named("blend", "itml"); o.Incumbent.Method != "blend" || len(o.Candidates) != 2 {
		t.Errorf("rows of many lengths: incumbent %s of %v", o.Incumbent, o.Candidates)
	}
	for i := range x.N {
		row := x.Row(i)
		length := 0.0
		for _, v := range row {
			length += v * v
		}
		for j := range row {
			row[j] /= math.Sqrt(length)
		}
	}
	if o := named("blend", "itml"); o.Incumbent.Method != "adapt" || len(o.Candidates) != 3 ||
		o.Candidates[0].String() != o.Incumbent.String() || o.checkIncumbent() != nil {
		t.Errorf("embeddings: incumbent %s of %v", o.Incumbent, o.Candidates)
	}
	if o := named("itml"); o.Incumbent != nil || len(o.Candidates) != 1 {
		t.Errorf("itml alone: incumbent %s of %v", o.Incumbent, o.Candidates)
	}
}
