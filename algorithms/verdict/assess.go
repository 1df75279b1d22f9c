package verdict

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/internal/heldout"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Options are the settings of [Assess].
type Options struct {
	// Folds is the number of parts that the linked points are divided into; every part is held out of
	// one fit. 0 and 1 mean one fit without a quarter of the linked points.
	Folds    int
	Seed     uint64
	Progress algorithms.ProgressFunc // counts the fits
}

const (
	single = 4 // number of parts of which a single fit holds out the first
	least  = 5 // number of held-out links of a kind from which there is something to say
)

// Assess fits the method without some of the linked points and measures how well its metric ranks
// the links of these points, in comparison with x as it is. All points of a component of must-links
// are held out together, and no link of theirs is part of the fit.
//
// If too few links are there, or a fit fails, the verdict says so in Missing; this is no error.
// Without cannot-links, random pairs of linked points stand for them.
//
// Errors: links between another number of points (*fault.ShapeError), folds < 0
// (*fault.ParamError), ctx.Err(), wrapped. Cost: a fit for every fold, on fewer points and links
// than all.
func Assess(ctx context.Context, eng *engine.Engine, l algorithms.Learner, x points.Points, set *links.Set, o Options) (*Verdict, error) {
	folds, v, err := begin(x, set, o)
	if err != nil || v != nil {
		return v, err
	}
	j := newAssessment(eng, l, x, len(folds))
	for k, fold := range folds {
		o.Progress.Report(j.progress(k))
		if err := j.fold(ctx, fold); err != nil {
			if stopped := ctx.Err(); stopped != nil {
				return nil, fmt.Errorf("verdict: canceled after %d of %d fits: %w", k, len(folds), stopped)
			}
			return missing("a fit without some of the links failed: %v", err), nil
		}
	}
	return j.verdict(), nil
}

// begin checks the input and divides the links. If there are too few of them, it returns the
// verdict.
func begin(x points.Points, set *links.Set, o Options) ([]heldout.Fold, *Verdict, error) {
	switch {
	case set.N() != x.Len():
		return nil, nil, &fault.ShapeError{What: "number of points of the links", Got: set.N(), Want: fmt.Sprintf("%d, as there are points", x.Len())}
	case o.Folds < 0:
		return nil, nil, &fault.ParamError{Param: "folds", Value: o.Folds, Want: "a number >= 0"}
	}
	folds, err := parts(set, o)
	if err != nil {
		return nil, missing("%v", err), nil
	}
	return folds, nil, nil
}

// missing returns a verdict without figures.
func missing(format string, args ...any) *Verdict {
	return &Verdict{Missing: fmt.Sprintf(format, args...)}
}

// parts returns the folds whose links are held out.
func parts(set *links.Set, o Options) ([]heldout.Fold, error) {
	must, cannot := set.Count()
	if must == 0 {
		return nil, fmt.Errorf("%d cannot-links and no must-links: want must-links too", cannot)
	}
	counts := []int{o.Folds}
	if o.Folds < 2 {
		counts = []int{single, single - 1, 2} // few links may be enough for larger parts
	}
	for _, count := range counts {
		folds, err := heldout.Deal(set, count, o.Seed)
		if err == nil && o.Folds < 2 {
			folds = folds[:1]
		}
		if err == nil && enough(folds) {
			return folds, nil
		}
	}
	return nil, fmt.Errorf("%d must-links and %d cannot-links are too few to hold some out: want to hold out %d of each kind, so about %d in all", must, cannot, least, least*single)
}

// enough reports whether all folds together hold out enough links of each kind.
func enough(folds []heldout.Fold) bool {
	must, cannot := 0, 0
	for _, f := range folds {
		must, cannot = must+f.Links.Must, cannot+len(f.Links.List)-f.Links.Must
	}
	return must >= least && cannot >= least
}

// assessment collects what the folds say.
type assessment struct {
	eng     *engine.Engine
	learner algorithms.Learner
	x       points.Points
	start   time.Time
	fits    int

	out     Verdict // sums over folds
	learned effects // of the learned metric
	gain    effects // of the difference
	inside  float64 // sum over folds of the AUC of links that the fit knows
}

// newAssessment returns an assessment by so many fits.
func newAssessment(eng *engine.Engine, l algorithms.Learner, x points.Points, fits int) *assessment {
	return &assessment{eng: eng, learner: l, x: x, start: time.Now(), fits: fits}
}

func (j *assessment) progress(done int) algorithms.Progress {
	return algorithms.Progress{Stage: "verdict", Done: done, Total: j.fits, Objective: math.NaN(), Residual: math.NaN(), Elapsed: time.Since(j.start)}
}

// fold adds the figures of a fit without the points of a fold.
func (j *assessment) fold(ctx context.Context, held heldout.Fold) error {
	x, set, err := held.Training(j.eng, j.x)
	if err != nil {
		return err
	}
	m, err := j.learner.Fit(ctx, j.eng, x, set)
	if err != nil {
		return err
	}
	if err := j.inSample(ctx, m, x, set); err != nil {
		return err
	}
	lists := []heldout.Pairs{held.Links}
	if a := held.Among; min(a.Must, len(a.List)-a.Must) >= least {
		lists = append(lists, a)
	}
	for _, list := range lists {
		if err := j.pairs(ctx, m, list, 1/float64(len(lists))); err != nil {
			return err
		}
	}
	j.out.Must += held.Links.Must
	j.out.Cannot += len(held.Links.List) - held.Links.Must
	j.out.Fits++
	return nil
}

// pairs adds a share of the figures of some pairs in the metric of a model.
func (j *assessment) pairs(ctx context.Context, m algorithms.Model, p heldout.Pairs, share float64) error {
	learned, err := embedded(ctx, j.eng, m, j.x, p.List)
	if err != nil {
		return err
	}
	raw, err := Distances(ctx, j.eng, j.x, p.List)
	if err != nil {
		return err
	}
	a, b := newRanks(learned, p.Must), newRanks(raw, p.Must)
	j.out.AUC += share * a.auc
	j.out.Raw += share * b.auc
	for k, pair := range p.List {
		j.learned.add(pair, share/float64(j.fits)*a.effect(k))
		j.gain.add(pair, share/float64(j.fits)*(a.effect(k)-b.effect(k)))
	}
	return nil
}

// inSample adds the AUC of the links that a fit knows.
func (j *assessment) inSample(ctx context.Context, m algorithms.Model, x points.Points, set *links.Set) error {
	list := pairsOf(set.Must())
	must := len(list)
	list = append(list, pairsOf(set.Cannot())...)
	if must == 0 || must == len(list) {
		return nil
	}
	d, err := embedded(ctx, j.eng, m, x, list)
	if err != nil {
		return err
	}
	j.inside += newRanks(d, must).auc
	return nil
}

func pairsOf(list []links.Link) [][2]int {
	out := make([][2]int, len(list))
	for k, l := range list {
		out[k] = [2]int{l.I, l.J}
	}
	return out
}

// verdict returns the verdict of all folds.
func (j *assessment) verdict() *Verdict {
	v := &j.out
	for _, sum := range []*float64{&v.AUC, &v.Raw, &j.inside} {
		*sum /= float64(j.fits) // after the sum, so that it stays at most 1
	}
	v.Error = max(j.floor(), j.learned.spread())
	v.GainError = max(j.floor(), j.gain.spread())
	if v.Finding() != Better {
		v.Reasons = j.reasons()
	}
	return v
}

// floor is the least standard error: half a link of the rarer kind. The effects of few links may
// all be 0.
func (j *assessment) floor() float64 { return 0.5 / float64(min(j.out.Must, j.out.Cannot)+2) }
