package verdict

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/batch"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Options are the settings of [Assess] and [Grow].
type Options struct {
	// Folds is the number of parts that the linked rows are dealt into; every part is held out of
	// one fit. 1 means one fit without the first of the usual parts, five or three, and 0 as many
	// of the usual fits as take no more than Budget. There are at most [MaxFolds].
	Folds    int
	Budget   time.Duration // of the fits with Folds 0; 0 means ten seconds
	Each     time.Duration // that a fit takes for the count of these fits; 0 means as measured
	Seed     uint64
	Progress algorithms.ProgressFunc // counts the fits
}

// MaxFolds is the largest number of parts: each takes a fit.
const MaxFolds = 1000

// Stage is the stage of progress that counts the fits of [Assess].
const Stage = "verdict"

// usualBudget is the time that people wait for a verdict that they did not ask for.
const usualBudget = 10 * time.Second

// Fits returns about how many fits of all rows, which take so long each, take as long as those that
// [Assess] makes.
func (o Options) Fits(each time.Duration) float64 {
	const few, all = 1 - 1./usualParts, usualParts - 1
	switch {
	case o.Folds == 1:
		return few
	case o.Folds > 1:
		return float64(o.Folds - 1)
	}
	return min(all, max(few, float64(o.budget())/float64(max(1, each))))
}

func (o Options) budget() time.Duration { return cmp.Or(o.Budget, usualBudget) }

// Assess fits the method without some of the linked rows and measures how well its metric ranks the
// links between these rows and those of the fit, in comparison with x as it is. Parameters of the
// learner that name rows are restricted with the rows.
//
// If too few links are there, or all fits fail, the verdict says so in Missing; this is no error.
// The result has the same bits for any number of workers. With Folds 0 and Each 0 the number of
// fits depends on the time that they take, unless they take less than Budget together.
//
// Errors: links between another number of points (*fault.ShapeError), folds < 0
// (*fault.ParamError), ctx.Err(), wrapped. Cost: a fit for every fold, on fewer points and links
// than all; several at a time if they are small.
func Assess(ctx context.Context, eng *engine.Engine, l algorithms.Learner, x points.Points, set *links.Set,
	o Options) (*Verdict, error) {
	a, v, err := newAssessment(ctx, eng, l, x, set, o)
	if err != nil || v != nil {
		return v, err
	}
	if err := a.run(ctx); err != nil {
		return nil, err
	}
	return a.verdict(), nil
}

// figures are what a metric says of a fold.
type figures struct {
	ranking, hits Statistic
	plain         float64 // AUC of the links themselves
	inside        float64 // AUC of links that the fit knows, NaN for none
}

// assessment collects what the folds say.
type assessment struct {
	eng      *engine.Engine
	learner  algorithms.Learner
	x        points.Points
	set      *links.Set
	o        Options
	division *Division
	raw      []figures // of each fold
	learned  []figures // of each fold; ranking.Rows is nil for one that was not fitted
	partners bool      // compute hits
	start    time.Time
	fits     int // that begin at most
	done     int
	rounds   int // of as many fits
	round    int // from 0
	failed   int
	failure  error
	// part returns the part of the links of a fit that it learns from, nil for all.
	part func(set *links.Set) (*links.Set, error)
}

// newAssessment divides the links and measures the raw points. If there are too few links, it
// returns the verdict.
func newAssessment(ctx context.Context, eng *engine.Engine, l algorithms.Learner, x points.Points,
	set *links.Set, o Options) (*assessment, *Verdict, error) {
	switch {
	case set.N() != x.Len():
		return nil, nil, fault.Shape("number of points of the links", set.N(),
			"%d, as there are points", x.Len())
	case o.Folds < 0 || o.Folds > MaxFolds:
		return nil, nil, fault.Param("folds", o.Folds, "a number >= 0 and <= %d", MaxFolds)
	}
	parts := o.Folds
	if parts == 1 {
		parts = 0
	}
	a := &assessment{eng: eng, learner: l, x: x, set: set, o: o, start: time.Now(), rounds: 1}
	err := eng.Check("list of all links", 2*set.Bytes(), "use fewer links, or no verdict")
	if err == nil {
		a.division, err = Divide(set, parts, o.Seed)
	}
	if err != nil {
		return nil, missing("%v", err), nil
	}
	return a, nil, a.measureRaw(ctx)
}

// missing returns a verdict without figures.
func missing(format string, args ...any) *Verdict {
	return &Verdict{Missing: fmt.Sprintf(format, args...)}
}

// measureRaw measures the points without learning on every fold.
func (a *assessment) measureRaw(ctx context.Context) error {
	between, err := rawMetric(ctx, a.eng, a.x)
	if err != nil {
		return err
	}
	folds := a.division.Folds
	a.raw, a.learned = make([]figures, len(folds)), make([]figures, len(folds))
	for k, f := range folds {
		if a.raw[k], err = a.figures(ctx, f, between); err != nil {
			return err
		}
	}
	auc, _ := Combine(a.parts(func(k int) Statistic { return a.raw[k].ranking }))
	if a.partners = auc > manyClasses; !a.partners {
		return nil
	}
	for k, f := range folds {
		gallery, nearest := f.gallery(a.o.Seed)
		if a.raw[k].hits, err = f.hits(ctx, a.eng, between, gallery, nearest); err != nil {
			return err
		}
	}
	return nil
}

// figures returns the figures of a metric on a fold, but for the partners.
func (a *assessment) figures(ctx context.Context, f *Fold, between Metric) (out figures, err error) {
	d, err := f.distances(ctx, a.eng, between)
	if err != nil {
		return out, err
	}
	if !a.division.Alone {
		out.plain = f.plain(d[:len(f.Pairs)])
	}
	out.ranking, err = f.Ranking(ctx, d)
	return out, err
}

// parts returns the figures of all folds that have some, with their weights.
func (a *assessment) parts(of func(k int) Statistic) []Part {
	var list []Part
	for k, f := range a.division.Folds {
		if s := of(k); s.Rows != nil {
			list = append(list, Part{f, f.Weight(), s})
		}
	}
	return list
}

// run fits the method without some folds: with Options.Folds 1 as few as judge, with 0 as many as
// the time allows. If none of the few works, no others are tried.
func (a *assessment) run(ctx context.Context) error {
	folds := a.division.Folds
	few := 1
	for a.division.enough(folds[:few], a.set) != nil {
		few++
	}
	a.fits = len(folds)
	if a.o.Folds == 1 {
		a.fits = few
	}
	if err := a.without(ctx, 0, few); err != nil || a.failed == few {
		return err
	}
	to := a.fits
	if a.o.Folds == 0 {
		each := cmp.Or(a.o.Each, max(time.Since(a.start)/time.Duration(few), 1))
		to = max(few, min(to, int(a.o.budget()/each)))
		a.fits = to
	}
	return a.without(ctx, few, to)
}

// without fits the method without each of the folds from one up to another.
func (a *assessment) without(ctx context.Context, from, to int) error {
	if from >= to {
		return ctx.Err()
	}
	a.report()
	folds := a.division.Folds
	failures := make([]error, to)
	results, err := batch.Fit(ctx, a.eng, a.jobs(folds[from:to], failures[from:]), batch.Options{})
	if err != nil {
		return err
	}
	for r := range results {
		k := from + r.Index
		if failures[k] == nil {
			failures[k] = r.Err
		}
		if failures[k] == nil {
			a.learned[k], failures[k] = a.measure(ctx, k, r.Model)
		}
		if failures[k] != nil {
			a.learned[k] = figures{}
			a.failed, a.failure = a.failed+1, failures[k]
		}
		a.done++
		a.report()
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("verdict: canceled after %d of %d fits: %w", a.done, a.fits, err)
	}
	return nil
}

func (a *assessment) report() {
	stage := Stage
	if a.rounds > 1 {
		stage = "learning curve"
	}
	a.o.Progress.Report(algorithms.Progress{Stage: stage, Done: a.round*a.fits + a.done,
		Total: a.rounds * a.fits, Objective: math.NaN(), Residual: math.NaN(), Elapsed: time.Since(a.start)})
}

// jobs returns the fits without the folds; one that cannot begin is empty, with its error in
// failures.
func (a *assessment) jobs(folds []*Fold, failures []error) iter.Seq[batch.Job] {
	return func(yield func(batch.Job) bool) {
		for k, f := range folds {
			var job batch.Job
			job.Learner, job.Points, job.Links, failures[k] = f.Training(a.eng, a.learner, a.x)
			if failures[k] == nil && a.part != nil {
				job.Links, failures[k] = a.part(job.Links)
			}
			if failures[k] != nil {
				job = batch.Job{}
			}
			if !yield(job) {
				return
			}
		}
	}
}

// measure returns the figures of a model on fold k.
func (a *assessment) measure(ctx context.Context, k int, m algorithms.Model) (out figures, err error) {
	f := a.division.Folds[k]
	rows, nearest := f.ends, 0
	if a.partners {
		rows, nearest = f.gallery(a.o.Seed)
	}
	between, err := embedded(ctx, a.eng, m, a.x, f.Rows, rows)
	if err != nil {
		return out, err
	}
	if out, err = a.figures(ctx, f, between); err != nil {
		return out, err
	}
	if a.partners {
		if out.hits, err = f.hits(ctx, a.eng, between, rows, nearest); err != nil {
			return out, err
		}
	}
	out.inside = f.inside(between)
	return out, nil
}

// inside returns the AUC of links between rows of the fit that have links to held-out ones, NaN if
// they are of one kind.
func (f *Fold) inside(between Metric) float64 {
	in := map[int]bool{}
	for _, t := range f.ends {
		in[t] = true
	}
	var d []float64
	must := 0
	for k, list := range [][]links.Link{f.set.Must(), f.set.Cannot()} {
		for _, l := range list {
			if in[l.I] && in[l.J] {
				d = append(d, between(l.I, l.J))
			}
		}
		if k == 0 {
			must = len(d)
		}
	}
	if must == 0 || must == len(d) {
		return math.NaN()
	}
	return (&Fold{Must: must}).plain(d)
}

// verdict returns the verdict of all folds that were fitted.
func (a *assessment) verdict() *Verdict {
	learned := a.parts(func(k int) Statistic { return a.learned[k].ranking })
	if len(learned) == 0 {
		return missing("a fit without some of the links failed: %v", a.failure)
	}
	folds := make([]*Fold, len(learned))
	for k, p := range learned {
		folds[k] = p.Fold
	}
	if err := a.division.enough(folds, a.set); err != nil {
		return missing("%d of %d fits failed: %v; %v", a.failed, a.done, a.failure, err)
	}
	v := &Verdict{Fits: len(learned), Parts: a.division.parts, Failed: a.failed, Alone: a.division.Alone}
	v.Must, v.Cannot, v.Rows = Count(folds)
	v.AUC, v.Error = Level(learned)
	v.Gain, v.GainError = Combine(a.gains(func(f figures) Statistic { return f.ranking }))
	v.Raw, _ = Combine(a.fitted(func(k int) Statistic { return a.raw[k].ranking }))
	v.Found = found(v.Gain, v.GainError, Clear)
	if a.partners {
		v.Partners = a.found()
	}
	if v.Found != Better {
		v.Reasons = a.reasons(v)
	}
	return v
}

// gains returns learned less raw figures of the folds that were fitted.
func (a *assessment) gains(of func(figures) Statistic) []Part {
	return a.fitted(func(k int) Statistic { return of(a.learned[k]).Minus(of(a.raw[k])) })
}

// fitted returns figures of the folds that were fitted.
func (a *assessment) fitted(of func(k int) Statistic) []Part {
	return a.parts(func(k int) Statistic {
		if a.learned[k].ranking.Rows == nil {
			return Statistic{}
		}
		return of(k)
	})
}

// found returns how often partners are found.
func (a *assessment) found() *Partners {
	p := &Partners{}
	_, p.Nearest = a.division.Folds[0].gallery(a.o.Seed)
	for k, list := range [][]Part{
		a.parts(func(k int) Statistic { return a.learned[k].hits }),
		a.gains(func(f figures) Statistic { return f.hits }),
	} {
		for at := range list {
			list[at].Weight = float64(list[at].Must)
		}
		if k == 0 {
			p.Hits, _ = Combine(list)
		} else {
			p.Gain, p.GainError = Combine(list)
		}
	}
	p.Raw = p.Hits - p.Gain
	return p
}

// insideGap returns by how much links that the fits know are ranked better than held-out ones.
func (a *assessment) insideGap() (inside, gap float64) {
	n, outside := 0.0, 0.0
	for _, f := range a.learned {
		if f.ranking.Rows != nil && !math.IsNaN(f.inside) {
			inside, outside, n = inside+f.inside, outside+f.plain, n+1
		}
	}
	if n == 0 || a.division.Alone {
		return 0, 0
	}
	return inside / n, (inside - outside) / n
}
