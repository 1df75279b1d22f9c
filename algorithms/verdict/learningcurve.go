package verdict

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Curve shows how the AUC of held-out links grows with the number of links to learn from.
type Curve struct {
	Steps []Step  `json:"steps"` // with ever more links
	Raw   float64 `json:"raw"`   // AUC of the same held-out links without learning
	// Gain is the AUC of the last step minus that of the step before, with half as many links, and
	// GainError its standard error.
	Gain      float64 `json:"gain"`
	GainError float64 `json:"gain_error"`
	// Missing says why nothing could be measured, "" for a curve.
	Missing string `json:"missing,omitempty"`
}

// Step is a point of a learning curve.
type Step struct {
	Links int     `json:"links"` // that the fit learned from
	AUC   float64 `json:"auc"`   // of held-out links
	Error float64 `json:"error"` // its standard error
}

// Saturated reports whether the last doubling of the links gained no more than its standard error.
func (c *Curve) Saturated() bool { return c.Gain <= c.GainError }

// String returns the curve as a line of text.
func (c *Curve) String() string {
	if c.Missing != "" {
		return "not measured: " + c.Missing
	}
	var steps []string
	for _, s := range c.Steps {
		steps = append(steps, fmt.Sprintf("%d links %.2f", s.Links, s.AUC))
	}
	end := "more links would help"
	switch {
	case c.Saturated():
		end = "saturated, twice the links gained no more than chance"
	case c.Gain <= Clear*c.GainError:
		end = "more links may help"
	}
	return strings.Join(steps, ", ") + ": " + end
}

const (
	streamCurve = 0x6375727665 // the stream of the random numbers that order the links
	steps       = 4            // of a curve
)

// Grow fits the method to an eighth, a quarter, a half and all of the links that are not held out,
// each part within the next, and measures how well each metric ranks the same held-out links as
// [Assess] does. Too few links are no error: Missing names them. Other errors are those of Assess.
// Cost: at most four fits for every fold.
func Grow(ctx context.Context, eng *engine.Engine, l algorithms.Learner, x points.Points, set *links.Set,
	o Options) (*Curve, error) {
	whole, v, err := newAssessment(ctx, eng, l, x, set, o)
	if err != nil {
		return nil, err
	}
	if v != nil {
		return &Curve{Missing: v.Missing}, nil
	}
	whole.partners, whole.rounds = false, steps
	if err := whole.run(ctx); err != nil { // all links first: how many folds there is time for
		return nil, err
	}
	out := &Curve{}
	for k := range steps {
		if err := out.step(ctx, whole, 1<<k, o.Seed); err != nil || out.Missing != "" {
			return out, err
		}
	}
	slices.Reverse(out.Steps)
	return out, nil
}

// step adds the figures of fits to one of so many parts of the links, on the folds
// that whole used.
func (c *Curve) step(ctx context.Context, whole *assessment, of int, seed uint64) error {
	now := *whole
	learned := 0
	if of > 1 {
		now.part = func(set *links.Set) (*links.Set, error) { return some(set, of, seed) }
		now.learned, now.done, now.failed, now.round = make([]figures, len(whole.learned)), 0, 0, len(c.Steps)
		if err := now.without(ctx, 0, whole.done); err != nil {
			return err
		}
	}
	v := now.verdict()
	if v.Missing == "" && now.failed > 0 {
		v.Missing = fmt.Sprintf("a fit to a part of the links failed: %v", now.failure)
	}
	if v.Missing != "" {
		c.Missing = v.Missing
		return nil
	}
	for _, f := range whole.division.Folds[:whole.done] {
		set, err := f.set.Restrict(f.kept)
		if err == nil && of > 1 {
			set, err = some(set, of, seed)
		}
		if err != nil {
			return err
		}
		learned += set.Len()
	}
	if of == 2 {
		gain := now.parts(func(k int) Statistic {
			return whole.learned[k].ranking.Minus(now.learned[k].ranking)
		})
		c.Gain, c.GainError = Combine(gain)
	}
	if of == 1 {
		c.Raw = v.Raw
	}
	c.Steps = append(c.Steps, Step{learned / whole.done, v.AUC, v.Error})
	return nil
}

// some returns one of so many parts of the links of each kind, at least one of a kind that is
// there; the larger parts contain the smaller ones.
func some(set *links.Set, of int, seed uint64) (*links.Set, error) {
	r := rand.New(rand.NewPCG(seed, streamCurve))
	var kept []links.Link
	for _, list := range [][]links.Link{set.Must(), set.Cannot()} {
		for _, at := range r.Perm(len(list))[:(len(list)+of-1)/of] {
			kept = append(kept, list[at])
		}
	}
	return links.New(set.N(), kept)
}
