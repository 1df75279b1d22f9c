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
	"github.com/mustlink/mustlink/bench/fittimes"
	"github.com/mustlink/mustlink/bench/measure"
	"github.com/mustlink/mustlink/engine/kernel"
)

// Fits is the number of small fits per second, by the number of goroutines.
type Fits struct {
	Name  string  `json:"name"`
	What  string  `json:"what"`           // what a fit is
	GOGC  int     `json:"gogc,omitempty"` // 0: that of the program
	Kept  int     `json:"kept,omitempty"` // number of the latest models that are kept
	Among []Among `json:"among"`
}

// Among is the result for one number of goroutines.
type Among struct {
	Goroutines int            `json:"goroutines"`
	PerSecond  measure.Spread `json:"per_second"`
	// Gain is the rate divided by that of one goroutine in the same round.
	Gain measure.Spread `json:"gain"`
}

// many runs a given number of fits on goroutines.
type many func(ctx context.Context, fits int) error

// goOwn is the GOGC of a program that sets none, and of the second and third measurement of krca:
// the garbage, in percent of the memory in use, that starts a collection. Fits of 50 us that keep
// nothing leave a heap of a few megabytes, which is then collected 200 times per second.
const goOwn = 100

// kept is the number of models, about 30 MB, that the third measurement of krca keeps, as a service
// keeps one for each of its tenants. The larger the heap in use is, the less often Go collects
// garbage.
const kept = 1000

// fits measures one kind of fit with all numbers of goroutines in turn, with the given GOGC unless
// it is 0, while it keeps the given number of models.
func (o *Options) fits(ctx context.Context, name string, gogc, kept int) (Fits, error) {
	f := Fits{Name: name, GOGC: gogc, Kept: kept}
	kind := func(goroutines int) (string, many, error) { return o.krca(goroutines, kept) }
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
		w.Contenders = append(w.Contenders,
			measure.Contender{Name: fmt.Sprint(g), Time: func(calls int) (time.Duration, error) {
				if gogc != 0 {
					if o.Drop != nil {
						defer o.Drop()()
					}
					defer debug.SetGCPercent(debug.SetGCPercent(gogc))
				}
				begin := time.Now()
				err := run(ctx, calls)
				return time.Since(begin), err
			}})
	}
	measurements, err := measure.Run(ctx, []measure.Work{w},
		measure.Options{Rounds: o.Rounds, MinTime: o.MinTime})
	if err != nil {
		return f, err
	}
	for k, e := range measurements[0].Entries {
		f.Among = append(f.Among, Among{o.Goroutines[k], rate(1, e.Seconds), rate(1, e.Ratio)})
	}
	return f, nil
}

// krca is krca.FitMetric, from links to factor: 150 points with 4 features, 50 must-links and 50
// cannot-links, which it does not use.
func (o *Options) krca(goroutines, kept int) (string, many, error) {
	c := fittimes.Case{Points: 150, Features: 4, Links: 100}
	what := "krca.FitMetric, 150 x 4, 50 must-links and 50 cannot-links, bandwidth given"
	if kept > 0 {
		what += fmt.Sprintf(", the latest %d models kept", kept)
	}
	models := make([]atomic.Pointer[krca.Metric], max(1, kept))
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
		return share(goroutines, fits, func(i int) error {
			m, err := krca.FitMetric(ctx, eng, l, x, set)
			if kept > 0 {
				models[i%kept].Store(m)
			}
			return err
		})
	}, err
}

// share calls f with 0, 1, … calls - 1 from several goroutines; the first error ends all of them.
func share(goroutines, calls int, f func(i int) error) error {
	var next, failed atomic.Int64
	errs := make([]error, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for failed.Load() == 0 {
				i := int(next.Add(1)) - 1
				if i >= calls {
					return
				}
				if errs[g] = f(i); errs[g] != nil {
					failed.Add(1)
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// kbeta is its basic form, in which all points are landmarks, with its defaults, through
// algorithms/batch.
func (o *Options) kbeta(goroutines int) (string, many, error) {
	c := fittimes.Case{Points: 500, Features: 16, Links: 250}
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
