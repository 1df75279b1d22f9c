// Package batch (internal: may change) fits many models with one engine: small ones
// concurrently, large ones one after the other with all workers.
package batch

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/panics"
)

// Job is one fit. Jobs may share points, links and learners.
type Job struct {
	Learner algorithms.Learner
	Points  points.Points
	Links   *links.Set
}

// Result is the model or the error of a job.
type Result struct {
	Index int              // number of the job, from 0
	Model algorithms.Model // nil if the job failed
	Err   error            // the error of this job
}

// Options are the settings of [Fit]. The zero value suits most uses.
type Options struct {
	// Parallel is the number of small jobs at a time, 0 for one per worker of the engine. Each has
	// an equal part of the workers and of the memory limit.
	Parallel int
	// Large is the number of points from which on a job runs alone, with all workers: its matrices
	// need most of the memory, and it gains from several workers. 0 means DefaultLarge.
	Large int
}

// DefaultLarge is the default of Options.Large. A kernel matrix of so many points takes 128 MiB.
const DefaultLarge = 4096

// lead bounds the number of jobs that may begin before the next result is ready, per parallel job.
// It lets other jobs run during a slow one and bounds the number of models in memory.
const lead = 8

// Fit fits the jobs and yields their results in the order of the jobs. Every result is
// bit-identical to that of the job alone (in the netlib build, with one thread of the library).
// Another goroutine iterates over jobs, ahead of the results.
//
// The result of a failed job has its error; that of a job without learner, points or links is a
// *fault.ParamError. The other jobs continue. When ctx ends, running jobs end with its error, no
// further ones begin, and the sequence ends. Leaving the loop early ends all jobs before the loop
// statement ends. A panic of a job, or of its progress callback, is raised again in the loop as an
// *engine.Panic. Invalid options are a *fault.ParamError.
func Fit(ctx context.Context, eng *engine.Engine, jobs iter.Seq[Job], o Options) (iter.Seq[Result], error) {
	if o.Parallel < 0 {
		return nil, fault.Param("parallel", o.Parallel, "a number >= 0 (0 for all workers)")
	}
	if o.Large < 0 {
		return nil, fault.Param("large", o.Large, "a number of points >= 0 (0 for the default)")
	}
	if o.Parallel == 0 {
		o.Parallel = eng.Workers()
	}
	if o.Large == 0 {
		o.Large = DefaultLarge
	}
	part, err := eng.Share(o.Parallel)
	if err != nil {
		return nil, err
	}
	return func(yield func(Result) bool) {
		ctx, cancel := context.WithCancel(ctx)
		r := &run{ctx: ctx, whole: eng, part: part, o: o,
			free: make(chan struct{}, o.Parallel), results: make(chan chan outcome, lead*o.Parallel)}
		var wg sync.WaitGroup
		faults := panics.Faults()
		wg.Go(func() {
			faults()
			r.start(jobs, &wg)
		})
		defer wg.Wait()
		defer cancel()
		for result := range r.results {
			done := <-result
			if done.panic != nil {
				panic(done.panic)
			}
			if !yield(done.Result) || ctx.Err() != nil {
				return
			}
		}
	}, nil
}

// outcome is the result of a job, or its panic.
type outcome struct {
	Result
	panic *engine.Panic
}

// run is one loop over results.
type run struct {
	ctx         context.Context
	whole, part *engine.Engine
	o           Options
	free        chan struct{}     // holds a token for every running job; a large job puts in all tokens
	results     chan chan outcome // in the order of the jobs
}

// start begins the jobs one after the other, as tokens are free.
func (r *run) start(jobs iter.Seq[Job], wg *sync.WaitGroup) {
	defer close(r.results)
	defer func() {
		if p := panics.Recovered(recover()); p != nil { // a panic of the iterator jobs
			result := make(chan outcome, 1)
			result <- outcome{panic: p}
			select {
			case r.results <- result:
			case <-r.ctx.Done():
			}
		}
	}()
	index, faults := 0, panics.Faults()
	for job := range jobs {
		result := make(chan outcome, 1)
		select {
		case r.results <- result:
		case <-r.ctx.Done():
			return
		}
		eng, tokens := r.part, 1
		if job.Points != nil && job.Points.Len() >= r.o.Large {
			eng, tokens = r.whole, r.o.Parallel
		}
		taken := 0
		for taken < tokens && r.take() {
			taken++
		}
		number := index
		wg.Go(func() {
			defer r.give(taken)
			faults()
			result <- r.fit(eng, number, job)
		})
		index++
	}
}

// take waits for a free token. It returns false if the context ends.
func (r *run) take() bool {
	select {
	case r.free <- struct{}{}:
		return true
	case <-r.ctx.Done():
		return false
	}
}

func (r *run) give(tokens int) {
	for range tokens {
		<-r.free
	}
}

func (r *run) fit(eng *engine.Engine, index int, job Job) (o outcome) {
	o.Index = index
	defer func() { o.panic = panics.Recovered(recover()) }()
	switch {
	case r.ctx.Err() != nil:
		o.Err = r.ctx.Err()
	case job.Learner == nil || job.Points == nil || job.Links == nil:
		o.Err = fault.Param(fmt.Sprintf("job %d", index), "incomplete", "a learner, points and links")
	default:
		o.Model, o.Err = job.Learner.Fit(r.ctx, eng, job.Points, job.Links)
	}
	return o
}
