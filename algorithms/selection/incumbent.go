package selection

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/mustlink/mustlink/algorithms/verdict"
	"github.com/mustlink/mustlink/engine/fault"
)

// incumbent returns the index of the incumbent among the candidates, -1 without one.
func (o *Options) incumbent() int {
	if o.Incumbent == nil {
		return -1
	}
	for i, c := range o.Candidates {
		if c.String() == o.Incumbent.String() {
			return i
		}
	}
	return -1
}

// checkIncumbent returns an error for an incumbent that is not a candidate, and for an invalid
// margin.
func (o *Options) checkIncumbent() error {
	if o.Incumbent != nil && o.incumbent() < 0 {
		return &fault.ParamError{Param: "incumbent", Value: o.Incumbent.String(), Want: "one of the candidates"}
	}
	if !(o.Margin >= 0) || math.IsInf(o.Margin, 1) {
		return &fault.ParamError{Param: "margin", Value: o.Margin, Want: "a finite number >= 0 of standard errors"}
	}
	return nil
}

// stay returns the candidates that a round of halving keeps, the best first: the best third of
// those that challenge the incumbent, and the incumbent.
func (s *search) stay(order []int) []int {
	at := s.o.incumbent()
	held := slices.Contains(order, at)
	if held {
		order = slices.DeleteFunc(order, func(i int) bool { return i == at })
	}
	left := order[:third(len(order))]
	if held {
		left = append(left, at)
	}
	return left
}

// third returns the number of candidates that a round of halving keeps of some. Few candidates stay
// to the end: one fold is not enough to choose between them, and their fits cost little.
func third(count int) int { return max((count+keep-1)/keep, min(count, fewest)) }

// chance is the share of selections among candidates without effect in which one is called better.
const chance = 0.05

// choose computes how far the trials are ahead of the points without learning and of the incumbent,
// and selects one: the incumbent unless another trial is ahead of it by more than the margin, among
// those that are clearly better than the points without learning; or else these points.
//
// The more candidates, the more errors it takes to be clear: a normal quantile of 1 - chance/count
// (Bonferroni), which holds whatever the correlation of the candidates.
func (s *search) choose(r *Result) {
	at := s.o.incumbent()
	if at >= 0 && s.trials[at].Error != "" {
		at = -1
	}
	if r.Raw != nil {
		r.Needed = distuv.UnitNormal.Quantile(1 - chance/float64(len(r.Trials)))
	}
	var clear []*Trial // of candidates with all folds, the best first
	for k := range r.Trials {
		t := &r.Trials[k]
		if t.Error != "" {
			continue
		}
		if r.Raw != nil {
			gain, err := verdict.Combine(s.weighted(minus(t.figures, r.Raw.figures)))
			t.Gain, t.GainError = &gain, &err
		}
		if len(t.Scores) == s.parts() && (r.Raw == nil || *t.Gain > r.Needed**t.GainError) {
			clear = append(clear, t)
		}
		if at >= 0 && len(t.Scores) == len(s.trials[at].Scores) &&
			t.Candidate.String() != s.trials[at].Candidate.String() {
			v := s.ahead(t.figures, s.trials[at].figures)
			t.Ahead = &v
		}
	}
	r.Best = Candidate{Method: Raw}
	if len(clear) > 0 {
		r.Best = s.defend(clear, at).Candidate
	}
	if r.Raw != nil {
		s.crossFit(r)
	}
}

// defend returns the incumbent if it is among the trials and none is ahead of it by more than the
// margin, otherwise the best trial that is.
func (s *search) defend(trials []*Trial, incumbent int) *Trial {
	at := -1
	if incumbent >= 0 {
		name := s.trials[incumbent].Candidate.String()
		at = slices.IndexFunc(trials, func(t *Trial) bool { return t.Candidate.String() == name })
	}
	if at < 0 {
		return trials[0]
	}
	for _, t := range trials {
		if t.Ahead != nil && *t.Ahead > s.o.Margin {
			return t
		}
	}
	return trials[at]
}

// crossFit computes what the choice gained on folds that it was not made by: for every fold, that
// of the candidate whose gain on the other folds is largest, 0 if none has any; only candidates
// that were scored on all folds take part. It also makes the verdict.
func (s *search) crossFit(r *Result) {
	var all []*Trial
	for k := range r.Trials {
		if t := &r.Trials[k]; t.Error == "" && len(t.Scores) == s.parts() {
			all = append(all, t)
		}
	}
	cross := make([]verdict.Statistic, s.parts())
	for f := range cross {
		best := 0.0
		for _, t := range all {
			gains := minus(t.figures, r.Raw.figures)
			others := slices.Delete(s.weighted(gains), f, f+1)
			if mean, _ := verdict.Combine(others); mean > best {
				best, cross[f] = mean, gains[f]
			}
		}
	}
	r.Gain, r.GainError = verdict.Combine(s.weighted(cross))
	if s.o.Criterion != Ranking {
		return
	}
	v := &verdict.Verdict{Raw: r.Raw.Mean, AUC: r.Raw.Mean, Found: verdict.Similar, Fits: s.parts(),
		Parts: s.o.Folds, Candidates: len(r.Trials)}
	v.Must, v.Cannot, v.Rows = verdict.Count(s.folds)
	v.Alone = v.Cannot == 0
	if r.Best.Method != Raw {
		v.Found, v.Gain, v.GainError = verdict.Better, r.Gain, r.GainError
		v.AUC += v.Gain
		at := slices.IndexFunc(r.Trials, func(t Trial) bool { return t.Candidate.String() == r.Best.String() })
		_, v.Error = verdict.Combine(s.weighted(r.Trials[at].figures))
	}
	r.judged = v
}

// minus returns the figures less those of another metric on the same folds.
func minus(a, b []verdict.Statistic) []verdict.Statistic {
	out := make([]verdict.Statistic, len(a))
	for f := range a {
		out[f] = a[f].Minus(b[f])
	}
	return out
}

// maxAhead bounds the result of ahead, since JSON has no infinity.
const maxAhead = 1e6

// ahead returns the mean of a - b over the same k >= 2 folds, in standard errors. Figures without
// parts have the error of k folds that share training points: (1/k + 1/(k - 1))^1/2 standard
// deviations (Nadeau and Bengio 2003, Inference for the generalization error).
func (s *search) ahead(a, b []verdict.Statistic) float64 {
	d := minus(a, b)
	mean, err := verdict.Combine(s.weighted(d))
	if d[0].Rows == nil {
		values := make([]float64, len(d))
		for f := range d {
			values[f] = d[f].Value
		}
		k := float64(len(d))
		_, sd := spread(values)
		err = sd * math.Sqrt(1/k+1/(k-1))
	}
	if mean == 0 {
		return 0
	}
	return max(-maxAhead, min(maxAhead, mean/err))
}
