package verdict

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/heldout"
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
	if c.Saturated() {
		end = "saturated, twice the links gained no more than chance"
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
func Grow(ctx context.Context, eng *engine.Engine, l algorithms.Learner, x points.Points, set *links.Set, o Options) (*Curve, error) {
	folds, v, err := begin(x, set, o)
	if err != nil {
		return nil, err
	}
	if v != nil {
		return &Curve{Missing: v.Missing}, nil
	}
	var out Curve
	var last *assessment
	var doubling effects // of the last step
	for k := range steps {
		o.Progress.Report(algorithms.Progress{Stage: "learning curve", Done: k, Total: steps, Objective: math.NaN(), Residual: math.NaN()})
		j := newAssessment(eng, l, x, len(folds))
		learned, err := j.learnFrom(ctx, folds, 1<<(steps-1-k), o.Seed)
		if stopped := ctx.Err(); stopped != nil {
			return nil, fmt.Errorf("learning curve: canceled after %d of %d steps: %w", k, steps, stopped)
		}
		if err != nil {
			return &Curve{Missing: fmt.Sprintf("a fit to a part of the links failed: %v", err)}, nil
		}
		now := j.verdict()
		if now.Missing != "" {
			return &Curve{Missing: now.Missing}, nil
		}
		if last != nil {
			out.Gain, doubling = now.AUC-last.out.AUC, j.learned.minus(&last.learned)
		}
		out.Steps, out.Raw, last = append(out.Steps, Step{learned, now.AUC, now.Error}), now.Raw, j
	}
	out.GainError = max(last.floor(), doubling.spread())
	return &out, nil
}

// learnFrom adds the figures of fits to one of so many parts of the links, and returns how many
// links a fit has on average.
func (j *assessment) learnFrom(ctx context.Context, folds []heldout.Fold, of int, seed uint64) (learned int, err error) {
	for _, fold := range folds {
		if fold.Fit, err = some(fold.Fit, of, seed); err != nil {
			return 0, err
		}
		learned += fold.Fit.Len()
		if err := j.fold(ctx, fold); err != nil {
			return 0, err
		}
	}
	return learned / len(folds), nil
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
