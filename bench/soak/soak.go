package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/mustlink/mustlink/engine"
)

// Options are the settings of a soak.
type Options struct {
	For        time.Duration // no job starts after it; > 0
	Goroutines int           // number of jobs at a time; >= 1
	Seed       uint64        // of the jobs
	// Progress is called with the elapsed time, at most a few times per second.
	Progress func(elapsed time.Duration, fits int)
}

// Report is the result of a soak. Sizes are in bytes.
type Report struct {
	Seconds    float64 `json:"seconds"`
	Goroutines int     `json:"goroutines"`
	Seed       uint64  `json:"seed"`
	Jobs       int     `json:"jobs"`
	Fits       int     `json:"fits"`
	Embeds     int     `json:"embeds"`
	Repeats    int     `json:"repeats"` // jobs that repeated earlier ones

	Methods map[string]int `json:"methods"` // number of fits of each method
	Errors  map[string]int `json:"errors"`  // number of errors of each kind
	// changed results, panics, and errors that the input did not cause
	Faults []string `json:"faults"`

	// Memory in RAM: the medians over the tenth of the time after the first quarter, and over the
	// last tenth.
	WarmMemory    int64   `json:"warm_memory_bytes"`
	EndMemory     int64   `json:"end_memory_bytes"`
	LargestMemory int64   `json:"largest_memory_bytes"`
	Growth        float64 `json:"growth_percent"`

	GoroutinesAtStart int `json:"goroutines_at_start"`
	GoroutinesAtEnd   int `json:"goroutines_at_end"`
}

// remembered bounds the number of answers that are kept for repeats.
const remembered = 512

// maxFaults bounds the list of faults, since a fault that occurs in every job need not be listed
// for each.
const maxFaults = 20

// sampling is the time between two measurements of memory.
const sampling = 250 * time.Millisecond

// Run soaks until the time is over. If ctx ends first, it returns the report so far with the error
// of ctx.
func Run(ctx context.Context, eng *engine.Engine, o Options) (*Report, error) {
	start := time.Now()
	r := &run{Options: o, eng: eng, start: start, answers: map[uint64]answer{},
		report: Report{Goroutines: o.Goroutines, Seed: o.Seed, Methods: map[string]int{},
			Errors: map[string]int{}, Faults: []string{}}}
	r.reportProgress()
	time.Sleep(sampling) // until the goroutines of a listener have started
	r.report.GoroutinesAtStart = runtime.NumGoroutine()

	var workers sync.WaitGroup
	for g := range o.Goroutines {
		workers.Go(func() { r.work(ctx, rand.New(rand.NewPCG(o.Seed, uint64(g)+1<<32))) })
	}
	done := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() { r.watch(done) })
	workers.Wait()
	close(done)
	watcher.Wait()

	r.report.Seconds = time.Since(start).Seconds()
	r.report.GoroutinesAtEnd = settled(r.report.GoroutinesAtStart)
	r.memory()
	return &r.report, ctx.Err()
}

// run is a running soak.
type run struct {
	Options
	eng     *engine.Engine
	start   time.Time
	samples []int64 // only watch uses them

	mu      sync.Mutex
	report  Report
	next    uint64
	order   []uint64 // numbers of the answers, oldest first
	answers map[uint64]answer
}

// work does jobs until the time is over.
func (r *run) work(ctx context.Context, rng *rand.Rand) {
	for ctx.Err() == nil && time.Since(r.start) < r.For {
		number := r.take(rng)
		j, err := newJob(r.Seed, number)
		var a answer
		if err == nil {
			a, err = j.do(ctx, r.eng)
		}
		if ctx.Err() != nil {
			return
		}
		r.note(number, j, a, err)
	}
}

// take returns the number of a new job or, one time in eight, of an earlier one.
func (r *run) take(rng *rand.Rand) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.order) > 0 && rng.IntN(8) == 0 {
		return r.order[rng.IntN(len(r.order))]
	}
	r.next++
	return r.next
}

// note counts a job and compares its answer with that of an earlier run of the job.
func (r *run) note(number uint64, j job, a answer, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Jobs++
	r.report.Embeds += a.embeds
	if err != nil {
		name, expected := kind(err)
		r.report.Errors[name]++
		a.failure = err.Error()
		if !expected {
			r.fault("job %d, %s with kernel %q and %v: %v", number, j.method.Name, j.config.Kernel,
				j.config.Params, err)
		}
	} else {
		r.report.Fits++
		r.report.Methods[j.method.Name]++
	}
	before, done := r.answers[number]
	if !done {
		r.remember(number, a)
		return
	}
	r.report.Repeats++
	if before != a {
		r.fault("job %d, %s with kernel %q and %v: its answer has changed (error %q, first %q)", number,
			j.method.Name, j.config.Kernel, j.config.Params, a.failure, before.failure)
	}
}

func (r *run) fault(format string, args ...any) {
	if len(r.report.Faults) < maxFaults {
		r.report.Faults = append(r.report.Faults, fmt.Sprintf(format, args...))
	}
}

// remember keeps an answer and, beyond the bound, drops the oldest.
func (r *run) remember(number uint64, a answer) {
	if len(r.order) == remembered {
		delete(r.answers, r.order[0])
		r.order = slices.Delete(r.order, 0, 1)
	}
	r.order, r.answers[number] = append(r.order, number), a
}

// watch samples memory and reports progress until done is closed.
func (r *run) watch(done <-chan struct{}) {
	tick := time.NewTicker(sampling)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			r.samples = append(r.samples, resident())
			r.reportProgress()
		}
	}
}

func (r *run) reportProgress() {
	if r.Progress == nil {
		return
	}
	r.mu.Lock()
	fits := r.report.Fits
	r.mu.Unlock()
	r.Progress(time.Since(r.start), fits)
}

// memory summarizes the samples.
func (r *run) memory() {
	n := len(r.samples)
	if n == 0 {
		r.samples, n = []int64{resident()}, 1
	}
	r.report.WarmMemory = median(r.samples[n/4 : n/4+max(1, n/10)])
	r.report.EndMemory = median(r.samples[n-max(1, n/10):])
	r.report.LargestMemory = slices.Max(r.samples)
	if r.report.WarmMemory > 0 {
		r.report.Growth = 100 * (float64(r.report.EndMemory)/float64(r.report.WarmMemory) - 1)
	}
}

func median(values []int64) int64 {
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

// settled returns the number of goroutines as soon as there are at most want of them, or after a
// second.
func settled(want int) int {
	for range 100 {
		if runtime.NumGoroutine() <= want {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return runtime.NumGoroutine()
}

// Check returns the problems of a report: faults, goroutines that remain, and memory that grew by
// at least growth percent. The list is empty if there are none.
func (r *Report) Check(growth float64) []string {
	wrong := append([]string{}, r.Faults...) // never nil: a list in JSON
	if left := r.GoroutinesAtEnd - r.GoroutinesAtStart; left > 0 {
		wrong = append(wrong, fmt.Sprintf("%d goroutines are left", left))
	}
	if !(r.Growth < growth) {
		wrong = append(wrong,
			fmt.Sprintf("memory grew by %.1f %% after the first quarter: want less than %g %%", r.Growth,
				growth))
	}
	return wrong
}
