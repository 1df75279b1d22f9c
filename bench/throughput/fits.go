package throughput

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mustlink/mustlink/algorithms/batch"
	"github.com/mustlink/mustlink/algorithms/kbeta"
	"github.com/mustlink/mustlink/algorithms/krca"
	"github.com/mustlink/mustlink/bench/measure"
	"github.com/mustlink/mustlink/bench/methods"
	"github.com/mustlink/mustlink/engine/kernel"
)

// Fits is how many small fits are made in a second, by the number of goroutines that make them.
type Fits struct {
	Name  string  `json:"name"`
	What  string  `json:"what"`           // a fit is
	GOGC  int     `json:"gogc,omitempty"` // 0: the program's
	Among []Among `json:"among"`
}

// Among is the figure of one number of goroutines.
type Among struct {
	Goroutines int            `json:"goroutines"`
	PerSecond  measure.Spread `json:"per_second"`
	// Gain is how many times as many fits as one goroutine makes in the same round.
	Gain measure.Spread `json:"gain"`
}

// many makes so many fits on goroutines.
type many func(ctx context.Context, fits int) error

// rarely is the GOGC of the second measurement of krca: how much garbage there may be, in percent of what is in use, before it is
// collected. Fits of 50 us that keep nothing leave a heap of few megabytes, which Go's own choice, 100, collects 200 times a second.
const rarely = 800

// fits measures one kind of fit with all numbers of goroutines in turn, under a GOGC of its own unless gogc is 0.
func (o *Options) fits(ctx context.Context, name string, gogc int) (Fits, error) {
	f := Fits{Name: name, GOGC: gogc}
	kind := o.krca
	if name == kbetaCase {
		kind = o.kbeta
	}
	w := measure.Work{Name: name}
	for _, g := range o.Goroutines {
		what, run, err := kind(g)
		if err != nil {
			return f, err
		}
		if gogc != 0 {
			what += fmt.Sprintf(", GOGC=%d", gogc)
		}
		f.What, w.Size = what, what
		w.Contenders = append(w.Contenders, measure.Contender{Name: fmt.Sprint(g), Time: func(calls int) (time.Duration, error) {
			if gogc != 0 {
				defer debug.SetGCPercent(debug.SetGCPercent(gogc))
			}
			begin := time.Now()
			err := run(ctx, calls)
			return time.Since(begin), err
		}})
	}
	figures, err := measure.Run(ctx, []measure.Work{w}, measure.Options{Rounds: o.Rounds, MinTime: o.MinTime})
	if err != nil {
		return f, err
	}
	for k, e := range figures[0].Entries {
		f.Among = append(f.Among, Among{o.Goroutines[k], rate(1, e.Seconds), rate(1, e.Ratio)})
	}
	return f, nil
}

// krca is krca.FitMetric, from links to factor: 150 points of 4 features, 50 must-links and 50 cannot-links, which it does not use.
func (o *Options) krca(goroutines int) (string, many, error) {
	c := methods.Case{Points: 150, Features: 4, Links: 100}
	what := "krca.FitMetric, 150 x 4, 50 must-links and 50 cannot-links, bandwidth given"
	x, set, err := c.Problem()
	if err != nil {
		return what, nil, err
	}
	spec, err := kernel.Parse("rbf:sigma=2")
	if err != nil {
		return what, nil, err
	}
	eng, err := o.Open(1)
	l := krca.Learner{Kernel: spec, Params: krca.DefaultParams()}
	return what, func(ctx context.Context, fits int) error {
		return share(goroutines, fits, func() error {
			_, err := l.FitMetric(ctx, eng, x, set)
			return err
		})
	}, err
}

// share calls f so many times from goroutines; the first error ends them all.
func share(goroutines, calls int, f func() error) error {
	var next, failed atomic.Int64
	errs := make([]error, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for next.Add(1) <= int64(calls) && failed.Load() == 0 {
				if errs[g] = f(); errs[g] != nil {
					failed.Add(1)
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// kbeta is the basic form, all points landmarks, with its defaults, through algorithms/batch.
func (o *Options) kbeta(goroutines int) (string, many, error) {
	c := methods.Case{Points: 500, Features: 16, Links: 250}
	what := "kbeta, basic form, 500 x 16, 250 links, through algorithms/batch"
	x, set, err := c.Problem()
	if err != nil {
		return what, nil, err
	}
	eng, err := o.Open(goroutines)
	job := batch.Job{Learner: kbeta.Learner{Params: kbeta.DefaultParams(), Seed: 1}, Points: x, Links: set}
	return what, func(ctx context.Context, fits int) error {
		jobs := func(yield func(batch.Job) bool) {
			for range fits {
				if !yield(job) {
					return
				}
			}
		}
		results, err := batch.Fit(ctx, eng, jobs, batch.Options{Parallel: goroutines})
		if err != nil {
			return err
		}
		for r := range results {
			if r.Err != nil {
				return r.Err
			}
		}
		return ctx.Err()
	}, err
}
