package fittimes

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mustlink/mustlink/bench/measure"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Fitter fits cases: this program, or another build of it.
type Fitter interface {
	// Time fits a case calls times and returns how long the fits took, without drawing points and
	// links.
	Time(ctx context.Context, c Case, calls int) (time.Duration, error)
}

// Local fits on an engine of this program.
type Local struct {
	Engine *engine.Engine
	// The case of the last call, with its points and links.
	last Case
	x    *points.Dense
	set  *links.Set
}

// Time implements [Fitter].
func (l *Local) Time(ctx context.Context, c Case, calls int) (time.Duration, error) {
	learner, err := c.learner()
	if err != nil {
		return 0, err
	}
	if l.x == nil || l.last != c {
		x, set, err := c.Problem()
		if err != nil {
			return 0, err
		}
		l.last, l.x, l.set = c, x, set
	}
	begin := time.Now()
	for range calls {
		if _, err := learner.Fit(ctx, l.Engine, l.x, l.set); err != nil {
			return 0, err
		}
	}
	return time.Since(begin), nil
}

// Measurement is a measured case, with one entry for each build. Ratios are relative to the first
// build.
type Measurement struct {
	Case    Case            `json:"case"`
	Entries []measure.Entry `json:"entries"`
}

// Options are the settings of a measurement. The zero value is right for most.
type Options struct {
	Rounds int // 0: 3
	// Earlier are measurements of the same builds that need not be repeated.
	Earlier []Measurement
	// Progress is called before every case, and Finished with its measurement; an error of Finished
	// ends the run.
	Progress func(done, total int, c Case)
	Finished func(Measurement) error
}

// A fit that takes longer than patience needs no calls to warm up. A round of shorter fits takes at
// least minTime.
const (
	patience = 300 * time.Millisecond
	minTime  = 60 * time.Millisecond
)

// Run measures the plan with the named builds in turn, and returns a measurement for each case, in
// the order of the plan.
func Run(ctx context.Context, plan []Case, names []string, fitters []Fitter,
	o Options) ([]Measurement, error) {
	if o.Rounds == 0 {
		o.Rounds = 3
	}
	settings := measure.Options{Rounds: o.Rounds, MinTime: minTime, WarmUpTo: patience}
	if len(fitters) == 1 {
		settings.Pause = -1 // there are no threads of another build
	}
	var measurements []Measurement
	for i, c := range plan {
		if k := slices.IndexFunc(o.Earlier, func(f Measurement) bool { return f.Case == c }); k >= 0 {
			measurements = append(measurements, o.Earlier[k])
			continue
		}
		if o.Progress != nil {
			o.Progress(i, len(plan), c)
		}
		w := measure.Work{Name: c.Method, Size: c.Size()}
		for k, f := range fitters {
			w.Contenders = append(w.Contenders,
				measure.Contender{Name: names[k], Time: func(calls int) (time.Duration, error) {
					return f.Time(ctx, c, calls)
				}})
		}
		measured, err := measure.Run(ctx, []measure.Work{w}, settings)
		if err != nil {
			if ctx.Err() != nil { // another build may have been killed before it could report that
				return measurements, fmt.Errorf("%s, %s: %w", c.Method, c.Size(), ctx.Err())
			}
			return measurements, err
		}
		f := Measurement{c, measured[0].Entries}
		if o.Finished != nil {
			if err := o.Finished(f); err != nil {
				return measurements, err
			}
		}
		measurements = append(measurements, f)
	}
	return measurements, nil
}
