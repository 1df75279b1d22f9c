package selection

import (
	"math"

	"github.com/mustlink/mustlink/engine/fault"
)

// incumbent returns the place of the incumbent among the candidates, -1 without one.
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

// checkIncumbent reports one that is not among the candidates, and a margin that is none.
func (o *Options) checkIncumbent() error {
	if o.Incumbent != nil && o.incumbent() < 0 {
		return &fault.ParamError{Param: "incumbent", Value: o.Incumbent.String(), Want: "one of the candidates"}
	}
	if !(o.Margin >= 0) || math.IsInf(o.Margin, 1) {
		return &fault.ParamError{Param: "margin", Value: o.Margin, Want: "a finite number >= 0 of standard errors"}
	}
	return nil
}

// stay returns the part of the candidates, the best first, that a round of halving leaves: the
// incumbent is the last of it at least.
func (s *search) stay(order []int) []int {
	left := order[:(len(order)+keep-1)/keep]
	at := s.o.incumbent()
	for _, i := range left {
		if i == at {
			return left
		}
	}
	if at >= 0 && s.trials[at].Error == "" {
		left[len(left)-1] = at
	}
	return left
}

// defend says how far ahead of the incumbent the trials are, and chooses: of those that are ahead
// by more than the margin the first, or else the incumbent. One that failed is none.
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

// most bounds what ahead returns, as JSON has no infinity.
const most = 1e6

// ahead returns the mean of a - b, on the same two folds or more, in standard errors of it. Those
// of folds that share the points that they learn from are larger than those of independent ones:
// (1/k + 1/(k - 1))^1/2 standard deviations in place of (1/k)^1/2 (Nadeau and Bengio 2003,
// Inference for the generalization error).
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
	return max(-most, min(most, mean/(sd*math.Sqrt(1/k+1/(k-1)))))
}
