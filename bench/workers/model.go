package workers

import (
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/bench/measure"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
	"github.com/mustlink/mustlink/internal/forks"
)

// Predicted says how a fit would be divided among workers that this machine need not have. Its
// tasks ran one after another on one thread, whose time was taken for each, and every fork was then
// played again: whichever worker is free first takes the next task. Memory that workers share is
// not in it, so a fit that memory limits takes longer.
type Predicted struct {
	Seconds float64 `json:"seconds"`
	Forks   int     `json:"forks"`
	// Serial is the time outside of forks, and Waiting that in which a worker of a fork has no task,
	// both as shares of the time of all workers together, Seconds times their number.
	Serial  float64 `json:"serial"`
	Waiting float64 `json:"waiting"`
	// Waits are the functions with the forks in which the most of that waiting passes.
	Waits []Stage `json:"waits,omitempty"`
}

// schedule plays the forks of a fit on one goroutine.
type schedule struct {
	clock   func() float64 // seconds of the thread
	wake    float64        // seconds until another goroutine has begun
	forks   int
	saved   float64 // seconds by which the forks of the running task would have been shorter
	forked  float64 // seconds of the outermost forks, divided among their workers
	idle    float64 // seconds of their workers without a task
	waits   map[string]float64
	depth   atomic.Int32
	workers int
}

// fork runs the tasks of a fork and plays it on the workers. A fork within a task makes that task
// shorter.
func (s *schedule) fork(workers, tasks int, task func(i int)) {
	entered := s.clock()
	s.depth.Add(1)
	outer, worked := s.saved, 0.0
	free := make([]float64, min(workers, tasks)) // when each worker is free
	for w := range free {
		free[w] = s.wake * math.Log2(float64(w+1))
	}
	for i := range tasks {
		s.saved = 0
		began := s.clock()
		task(i)
		took := s.clock() - began
		free[slices.Index(free, slices.Min(free))] += took - s.saved
		worked += took - s.saved
	}
	length := slices.Max(free)
	s.forks++
	if s.depth.Add(-1) == 0 {
		s.forked += length
		s.idle += length*float64(s.workers) - worked
		s.waits[caller()] += length*float64(s.workers) - worked
	}
	s.saved = outer + s.clock() - entered - length // the time of this bookkeeping too
}

// caller returns the innermost functions of the project below those that fork.
func caller() string {
	programs := make([]uintptr, 24)
	frames := runtime.CallersFrames(programs[:runtime.Callers(3, programs)])
	var stack strings.Builder
	for {
		frame, more := frames.Next()
		if name := strings.TrimPrefix(frame.Function, project); !strings.HasPrefix(name, "engine.") &&
			!strings.HasPrefix(name, "internal/forks.") && !strings.HasPrefix(name, "blas/tile.") {
			stack.WriteString(frame.Function + "()\n")
		}
		if !more {
			break
		}
	}
	return functions(stack.String())
}

// predictions predicts the time of a method with every number of workers, in rounds, and compares
// it with that of one.
func predictions(ctx context.Context, o Options, method string, learner algorithms.Learner, x points.Points,
	set *links.Set, done func(Result)) error {
	counts := o.Predict
	if len(counts) > 0 && counts[0] != 1 {
		counts = slices.Insert(slices.Clone(counts), 0, 1)
	}
	rounds := make([][]Result, len(counts))
	for range o.Rounds {
		for k, count := range counts {
			r := Result{Method: method, Workers: count}
			if err := predict(ctx, learner, count, wakeTime(), x, set, &r); err != nil {
				return err
			}
			rounds[k] = append(rounds[k], r)
		}
	}
	seconds := func(r Result) float64 { return r.Predicted.Seconds }
	for k := range rounds {
		r := median(rounds[k], seconds)
		r.Times = seconds(median(rounds[0], seconds)) / seconds(r)
		done(r)
	}
	return nil
}

// predict fits once with the tasks of so many workers and returns what their time would have been.
// The stages of r are what runs outside of forks.
func predict(ctx context.Context, learner algorithms.Learner, count int, wake float64, x points.Points,
	set *links.Set, r *Result) error {
	s := &schedule{clock: measure.ThreadTime, wake: wake, workers: count, waits: map[string]float64{}}
	end := forks.Observe(s.fork)
	defer end()
	eng, err := engine.New(engine.Options{Workers: count})
	if err != nil {
		return err
	}
	stop := watch(r, func(_, _ float64) bool { return s.depth.Load() == 0 })
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began := measure.ThreadTime()
	_, err = learner.Fit(ctx, eng, x, set)
	r.Seconds = measure.ThreadTime() - began
	stop()
	all := r.Seconds - s.saved
	r.Predicted = &Predicted{Seconds: all, Forks: s.forks, Serial: (all - s.forked) / (all * float64(count)),
		Waiting: s.idle / (all * float64(count)), Waits: stages(s.waits, all*float64(count))}
	return err
}

// wakeTime measures how long it takes until another goroutine has begun: the least of many times,
// since a goroutine that has just ended is soon awake, as in a fit.
func wakeTime() float64 {
	least := time.Hour
	for range 200 {
		began, reached := time.Now(), make(chan time.Time, 1)
		go func() { reached <- time.Now() }()
		least = min(least, (<-reached).Sub(began))
	}
	return least.Seconds()
}
