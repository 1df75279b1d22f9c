// Package workers measures how the time of a fit falls with the number of workers, and which part
// of it one processor does while the others wait.
package workers

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/bench/measure"
	"github.com/mustlink/mustlink/bench/system"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

// Options are what to fit.
type Options struct {
	Methods        []string // each with parameters after its name
	Rows, Features int
	Links          int   // half of them must-links
	Workers        []int // the first is what others are compared with
	Predict        []int // numbers of workers whose time is predicted, from fits on one processor
	Rounds         int   // the median counts
	Seed           uint64
}

// Result is the time of one method with one number of workers.
type Result struct {
	Method  string  `json:"method"`
	Workers int     `json:"workers"`
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu_seconds"` // of all processors
	// Times is how many times as fast the fit is as with the first number of workers.
	Times float64 `json:"times"`
	// Alone is the share of the time in which less than one and a half processors are at work.
	Alone float64 `json:"alone"`
	// Stages are the functions in which the most of that time passes, innermost first.
	Stages []Stage `json:"stages,omitempty"`
	// Predicted is nil for a fit on as many workers. For one that was not, Seconds and Alone are
	// those of its tasks one after another.
	Predicted *Predicted `json:"predicted,omitempty"`
}

// Stage is time that passed in a function with hardly more than one processor at work.
type Stage struct {
	Function string  `json:"function"`
	Share    float64 `json:"share"` // of the time of the fit
}

// Run fits every method with every number of workers, in rounds, and calls done with each result.
func Run(ctx context.Context, o Options, done func(Result)) error {
	x, set, err := o.draw()
	if err != nil {
		return err
	}
	for _, method := range o.Methods {
		name, values, err := system.Parse(method)
		if err != nil {
			return err
		}
		learner, err := system.Learner(name, values, o.Seed)
		if err != nil {
			return err
		}
		rounds := make([][]Result, len(o.Workers))
		for range o.Rounds {
			for k, count := range o.Workers {
				r, err := fit(ctx, learner, count, x, set)
				if err != nil {
					return err
				}
				rounds[k] = append(rounds[k], r)
			}
		}
		seconds := func(r Result) float64 { return r.Seconds }
		first := median(rounds[0], seconds).Seconds
		for k := range rounds {
			r := median(rounds[k], seconds)
			r.Method, r.Times = method, first/r.Seconds
			done(r)
		}
		if err := predictions(ctx, o, method, learner, x, set, done); err != nil {
			return err
		}
	}
	return nil
}

// median returns the result with the median time.
func median(rounds []Result, seconds func(Result) float64) Result {
	slices.SortFunc(rounds, func(a, b Result) int { return cmp.Compare(seconds(a), seconds(b)) })
	return rounds[len(rounds)/2]
}

// fit measures one fit.
func fit(ctx context.Context, learner algorithms.Learner, count int, x points.Points,
	set *links.Set) (Result, error) {
	eng, err := engine.New(engine.Options{Workers: count})
	if err != nil {
		return Result{}, err
	}
	r := Result{Workers: count}
	began, before := time.Now(), measure.ProcessorTime()
	stop := watch(&r, fewAtWork)
	_, err = learner.Fit(ctx, eng, x, set)
	r.Seconds, r.CPU = time.Since(began).Seconds(), measure.ProcessorTime()-before
	stop()
	return r, err
}

// classes is the number of Gaussians.
const classes = 10

// draw returns rows of ten Gaussians, whose centers have a standard deviation of 2 and whose rows
// one of 1.5, with links between random rows.
func (o Options) draw() (*points.Dense, *links.Set, error) {
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	centers := make([]float64, classes*o.Features)
	for i := range centers {
		centers[i] = 2 * rng.NormFloat64()
	}
	x, labels := &points.Dense{N: o.Rows, D: o.Features, Data: make([]float64, o.Rows*o.Features)},
		make([]string, o.Rows)
	for i := range o.Rows {
		class := rng.IntN(classes)
		labels[i] = strconv.Itoa(class)
		for f, row := 0, x.Row(i); f < o.Features; f++ {
			row[f] = centers[class*o.Features+f] + 1.5*rng.NormFloat64()
		}
	}
	set, err := links.SampleByCount(labels, o.Links-o.Links/2, o.Links/2, o.Seed)
	return x, set, err
}
