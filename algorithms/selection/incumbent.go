package selection

import (
	"math"
	"slices"

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

// defend computes how far the trials are ahead of the incumbent. It selects the best trial that is
// ahead by more than the margin, or else the incumbent. It does nothing if the incumbent failed.
func (s *search) defend(r *Result) {
	at := s.o.incumbent()
	if at < 0 || s.trials[at].Error != "" {
		return
	}
	own := s.trials[at]
	r.Best = own.Candidate
	for k := len(r.Trials) - 1; k >= 0; k-- {
		t := &r.Trials[k]
		if t.Error != "" || len(t.Scores) != len(own.Scores) || t.Candidate.String() == own.Candidate.String() {
			continue
		}
		v := ahead(t.Scores, own.Scores)
		t.Ahead = &v
		if v > s.o.Margin {
			r.Best = t.Candidate
		}
	}
}

// maxAhead bounds the result of ahead, since JSON has no infinity.
const maxAhead = 1e6

// ahead returns the mean of a - b over the same k >= 2 folds, in standard errors. The fits of
// different folds share training points, so their standard error is larger than that of independent
// folds: it is (1/k + 1/(k - 1))^1/2 standard deviations instead of (1/k)^1/2 (Nadeau and Bengio
// 2003, Inference for the generalization error).
func ahead(a, b []float64) float64 {
	d := make([]float64, len(a))
	for f := range a {
		d[f] = a[f] - b[f]
	}
	mean, sd := spread(d)
	if mean == 0 {
		return 0
	}
	k := float64(len(d))
	return max(-maxAhead, min(maxAhead, mean/(sd*math.Sqrt(1/k+1/(k-1)))))
}
