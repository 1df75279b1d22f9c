package selection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/kernel"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"

	"gonum.org/v1/gonum/stat"
)

// Options are the settings of [Select]. Make them with [DefaultOptions].
type Options struct {
	Candidates []Candidate
	Criterion  Criterion
	Folds      int      // parts of the links, each held out once, >= 2
	Clusters   int      // for Agreement, Combined and Stability
	Labels     []string // for Labels: one for each point, "" for unknown
	// Halving scores all candidates on one fold, the best third on two more, and so on, but never
	// fewer than three: with five folds about two fifths of the fits that all would take.
	Halving bool
	// Incumbent, if not nil, is the candidate that is selected unless another one is ahead by more
	// than Margin standard errors. Held-out links are few, so that the best of many candidates is
	// ahead in part by chance. Candidates that are not clearly better than the points without
	// learning are not selected, whichever they are.
	Incumbent *Candidate
	Margin    float64 // >= 0
	Seed      uint64
	// State, if not "", is the path of a file with the scores of finished fits. An interrupted
	// selection resumes from it.
	State    string
	Progress algorithms.ProgressFunc // counts the fits of all rounds
	// Files keeps the files of parameters; if nil, Select has its own.
	Files *catalog.Files
}

// DefaultOptions returns five folds with halving, the criterion Ranking, no incumbent, and a margin
// of one standard error.
func DefaultOptions() Options {
	return Options{Criterion: Ranking, Folds: 5, Halving: true, Margin: 1, Seed: 1}
}

// Trial is a candidate with its scores.
type Trial struct {
	Candidate Candidate `json:"candidate"`
	// Scores are those of the folds on which the candidate was fitted, in their order, up to the first
	// fold on which it failed.
	Scores  []float64 `json:"scores"`
	Mean    float64   `json:"mean"` // weighted by the links of the folds; 0 for a candidate that failed
	SD      float64   `json:"sd"`   // of the scores, divisor n - 1; 0 for one score
	Seconds float64   `json:"seconds"`
	Error   string    `json:"error,omitempty"` // reason of the failure
	// Gain is the mean less that of the points without learning on the same folds, and GainError
	// its standard error. They are nil where the criterion cannot score these points.
	Gain      *float64 `json:"gain,omitempty"`
	GainError *float64 `json:"gain_error,omitempty"`
	// Ahead is the number of standard errors by which the candidate is ahead of the incumbent,
	// negative if it is behind. It is nil without an incumbent, and for candidates with fewer
	// folds.
	Ahead *float64 `json:"ahead,omitempty"`

	figures []verdict.Statistic // of the folds, in their order
}

// Result is the result of a selection.
type Result struct {
	// Best is the first trial or the incumbent, and the method [Raw] if no candidate is clearly
	// better than the points without learning.
	Best   Candidate `json:"best"`
	Trials []Trial   `json:"trials"` // by number of folds and mean, descending; failed ones last
	// of the points without learning, nil if the criterion cannot score them
	Raw *Trial `json:"raw,omitempty"`
	// Needed is the number of standard errors by which a candidate must be ahead of Raw to be
	// clearly better, so that one selection in twenty has one that is none; 0 without Raw.
	Needed float64 `json:"needed,omitempty"`
	// Gain is what the choice gained over Raw on folds that it was not made by. It is less than the
	// gain of the candidate, which is in part luck, but not free of it, as folds share links: .01
	// to .03 where there is nothing to learn. GainError is its standard error.
	Gain      float64 `json:"gain"`
	GainError float64 `json:"gain_error"`
	Fits      int     `json:"fits"`
	// Resumed is the number of fits whose scores were in the state file.
	Resumed int     `json:"resumed"`
	Seconds float64 `json:"seconds"`

	judged *verdict.Verdict
}

// Verdict returns the verdict on the selected candidate by the links of the selection, nil unless
// the criterion is Ranking. It takes no further fits.
func (r *Result) Verdict() *verdict.Verdict { return r.judged }

// keep is the divisor of the number of candidates in a round of halving, fewest the number of those
// that are not dropped.
const (
	keep   = 3
	fewest = 3
)

// Select scores the candidates on the points x and the links and returns them in order. The points
// of a fold are no part of a fit: the model embeds them as new points, and their links, which the
// fit does not know, give the score. Points without links are part of every fit. Except for
// times, the result is the same for any number of workers. A failed candidate is listed with its
// error; if all fail, Select returns an error.
//
// Errors: no candidate, a duplicate, one that the catalog refuses, or options out of range
// (*fault.ParamError); too few links for the folds (*fault.DataError that names what is missing);
// ctx.Err(), wrapped. Cost: one fit for every candidate and fold, and a copy of the points for each
// fit that runs. With Halving, a candidate behind the best third is not fitted again. With the
// criterion Ranking, candidates that differ only in the parameter of a path share one fit.
// Neighbors and bandwidths are computed once for all candidates of a fold.
func Select(ctx context.Context, eng *engine.Engine, x points.Points, set *links.Set,
	o Options) (*Result, error) {
	start := time.Now()
	if o.Files == nil {
		o.Files = &catalog.Files{}
	}
	x, err := kernel.Sound(ctx, eng, x)
	if err != nil {
		return nil, err
	}
	if err := o.validate(x, set); err != nil {
		return nil, err
	}
	if err := eng.Check(fmt.Sprintf("the links of %d folds, %d in all", o.Folds, set.Len()), o.linkBytes(set),
		"use fewer folds, or a smaller number of links instead of chunklets"); err != nil {
		return nil, err
	}
	j, err := newEvaluator(x, set, &o)
	if err != nil {
		return nil, err
	}
	if eng, err = eng.Sharing(cacheBytes); err != nil {
		return nil, err
	}
	store, err := openStore(o.State, x, set, &o)
	if err != nil {
		return nil, err
	}
	s := &search{evaluator: j, store: store, start: start, trials: make([]Trial, len(o.Candidates))}
	for i, c := range o.Candidates {
		s.trials[i].Candidate = c
	}
	if err := s.runAndClose(ctx, eng); err != nil {
		return nil, err
	}
	r, err := s.result()
	if err != nil {
		return nil, err
	}
	if r.Raw, err = s.raw(ctx, eng); err != nil {
		return nil, err
	}
	s.choose(r)
	return r, nil
}

// runAndClose is run, after which it closes the state file, even after a panic.
func (s *search) runAndClose(ctx context.Context, eng *engine.Engine) (err error) {
	defer func() {
		if closeErr := s.store.close(); err == nil {
			err = closeErr
		}
	}()
	return s.run(ctx, eng)
}

func (o *Options) validate(x points.Points, set *links.Set) error {
	if set.N() != x.Len() {
		return fault.Shape("number of points of the links", set.N(), "%d, as there are points", x.Len())
	}
	if len(o.Candidates) == 0 {
		return fault.Param("candidates", 0, "at least one")
	}
	if err := duplicate(o.Candidates); err != nil {
		return err
	}
	for _, c := range o.Candidates {
		if _, err := c.Learner(catalog.Config{Seed: o.Seed, Files: o.Files, Rows: x.Len()}); err != nil {
			return fmt.Errorf("candidate %q: %w", c, err)
		}
	}
	return o.check(x.Len())
}

// linkBytes returns the memory of all links, one by one, of what the cannot-links separate, and of
// the links of every fold.
func (o *Options) linkBytes(set *links.Set) int64 {
	folds := min(max(o.Folds, 0), set.N()) // deal refuses other numbers
	return int64(folds+3) * set.Bytes()
}

// search is the state of a call of Select.
type search struct {
	*evaluator
	store  *store
	start  time.Time
	trials []Trial
	apart  bool // fit every candidate separately

	mu      sync.Mutex
	done    int
	total   int
	resumed int
	first   error // error of the first failed job
}

// job is a family of candidates on a fold.
type job struct {
	candidates []int
	fold       int
}

// run scores the candidates in rounds.
func (s *search) run(ctx context.Context, eng *engine.Engine) error {
	alive := points.UpTo(len(s.trials))
	rounds := s.rounds()
	kept, rivals := 0, len(alive)
	if s.o.Incumbent != nil {
		kept, rivals = 1, len(alive)-1
	}
	for _, folds := range rounds {
		s.total += (kept + rivals) * len(folds)
		rivals = third(rivals)
	}
	for _, folds := range rounds {
		var jobs []job
		for _, family := range s.families(alive) {
			for _, f := range folds {
				jobs = append(jobs, job{family, f})
			}
		}
		if err := s.all(ctx, eng, jobs); err != nil {
			return err
		}
		s.order(alive)
		alive = slices.DeleteFunc(s.stay(alive), func(i int) bool { return s.trials[i].Error != "" })
		if len(alive) == 0 {
			break
		}
	}
	return nil
}

// rounds returns the folds of every round.
func (s *search) rounds() [][]int {
	var all []int
	for f := range s.parts() {
		all = append(all, f)
	}
	if !s.o.Halving {
		return [][]int{all}
	}
	rounds := [][]int{all[:1]}
	for first, count := 1, 2; first < len(all); first, count = first+count, count*2 {
		rounds = append(rounds, all[first:min(first+count, len(all))])
	}
	return rounds
}

// outcome is the score of a candidate on a fold, or its error.
type outcome struct {
	score   verdict.Statistic
	seconds float64
	err     error
}

// all runs jobs concurrently, each with a part of the engine, and adds their scores in the order of
// the jobs.
func (s *search) all(ctx context.Context, eng *engine.Engine, jobs []job) error {
	outcomes := make([][]outcome, len(jobs))
	part, err := eng.Share(min(eng.Workers(), len(jobs)))
	if err != nil {
		return err
	}
	// The error of a job goes to its trials. An unwritable state file and a panic end the run.
	err = eng.For(ctx, len(jobs), 1, func(k, _ int) error {
		outcomes[k] = s.outcomes(ctx, part, jobs[k])
		s.advance(len(jobs[k].candidates))
		for _, o := range outcomes[k] {
			if broken, is := errors.AsType[*storeError](o.err); is {
				return broken
			}
		}
		return nil
	})
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("selection: canceled after %d of %d fits: %w", s.done, s.total, err)
	}
	if err != nil {
		return err
	}
	for k, list := range outcomes {
		for at, o := range list {
			s.add(jobs[k].candidates[at], o)
		}
	}
	return nil
}

// add adds the score of one more fold.
func (t *Trial) add(j *evaluator, v verdict.Statistic) {
	t.figures = append(t.figures, v)
	t.Scores = append(t.Scores, v.Value)
	_, t.SD = spread(t.Scores)
	t.Mean, _ = verdict.Combine(j.weighted(t.figures))
}

// weighted returns the figures of the first folds with their weights.
func (j *evaluator) weighted(figures []verdict.Statistic) []verdict.Part {
	parts := make([]verdict.Part, len(figures))
	for f, v := range figures {
		parts[f] = verdict.Part{Weight: j.weight(f), Statistic: v}
		if j.folds != nil {
			parts[f].Fold = j.folds[f]
		}
	}
	return parts
}

// add adds the outcome of candidate i on one more fold.
func (s *search) add(i int, o outcome) {
	t := &s.trials[i]
	t.Seconds += o.seconds
	if o.err == nil {
		if t.Error == "" { // or the figures would not be those of the first folds
			t.add(s.evaluator, o.score)
		}
		return
	}
	if s.first == nil {
		s.first = o.err
	}
	if t.Error == "" {
		t.Error = o.err.Error()
	}
}

// outcomes returns the outcomes of a job. It takes those in the state file from there.
func (s *search) outcomes(ctx context.Context, eng *engine.Engine, j job) []outcome {
	begin, out := time.Now(), make([]outcome, len(j.candidates))
	var missing []int // indices in out
	for at, i := range j.candidates {
		v, ok := s.store.find(s.trials[i].Candidate, j.fold)
		if !ok {
			missing = append(missing, at)
			continue
		}
		out[at].score = v
		s.mu.Lock()
		s.resumed++
		s.mu.Unlock()
	}
	if len(missing) == 0 {
		return out
	}
	list := make([]Candidate, len(missing))
	for k, at := range missing {
		list[k] = s.trials[j.candidates[at]].Candidate
	}
	for k, o := range s.scores(ctx, eng, list, j.fold) {
		o.seconds = time.Since(begin).Seconds() / float64(len(missing))
		if o.err == nil {
			o.err = finite(o.score.Value)
		}
		if o.err == nil {
			o.err = s.store.add(list[k], j.fold, o.score)
		}
		out[missing[k]] = o
	}
	return out
}

func (s *search) advance(fits int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done += fits
	s.o.Progress.Report(algorithms.Progress{Stage: "fits", Done: s.done, Total: s.total,
		Objective: math.NaN(), Residual: math.NaN(), Elapsed: time.Since(s.start)})
}

// order sorts candidates, the best first; equal ones keep their order.
func (s *search) order(list []int) {
	slices.SortStableFunc(list, func(a, b int) int {
		p, q := s.trials[a], s.trials[b]
		if (p.Error == "") != (q.Error == "") {
			if p.Error == "" {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(len(q.Scores), len(p.Scores)), cmp.Compare(q.Mean, p.Mean))
	})
}

func (s *search) result() (*Result, error) {
	order := points.UpTo(len(s.trials))
	s.order(order)
	r := &Result{Best: s.trials[order[0]].Candidate, Fits: s.done, Resumed: s.resumed,
		Seconds: time.Since(s.start).Seconds()}
	for _, i := range order {
		t := s.trials[i]
		if t.Error != "" {
			t.Mean, t.SD = 0, 0
		}
		r.Trials = append(r.Trials, t)
	}
	if first := r.Trials[0]; first.Error != "" {
		return nil, fmt.Errorf("all %d candidates failed, the first: %q: %w", len(r.Trials), first.Candidate,
			s.first)
	}
	return r, nil
}

// spread returns the mean and the standard deviation.
func spread(values []float64) (mean, sd float64) {
	if len(values) < 2 {
		return stat.Mean(values, nil), 0
	}
	return stat.MeanStdDev(values, nil)
}
