package workers

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/mustlink/mustlink/bench/system"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/internal/forks"
)

// TestRun checks that results are consistent: the first number of workers is the unit, shares are
// shares, and the stages are part of the time alone.
func TestRun(t *testing.T) {
	var results []Result
	o := Options{Methods: []string{"rca", "kbeta"}, Rows: 400, Features: 6, Links: 200, Workers: []int{1, 2},
		Rounds: 3, Seed: 1}
	if err := Run(context.Background(), o, func(r Result) { results = append(results, r) }); err != nil {
		t.Fatal(err)
	}
	if len(results) != len(o.Methods)*len(o.Workers) {
		t.Fatalf("%d results, want %d", len(results), len(o.Methods)*len(o.Workers))
	}
	for k, r := range results {
		first := results[k-k%len(o.Workers)]
		if r.Method != o.Methods[k/len(o.Workers)] || r.Workers != o.Workers[k%len(o.Workers)] {
			t.Errorf("result %d is of %s with %d workers", k, r.Method, r.Workers)
		}
		if want := first.Seconds / r.Seconds; r.Times != want {
			t.Errorf("%s with %d workers: %g times as fast, want %g", r.Method, r.Workers, r.Times, want)
		}
		sum := 0.0
		for _, s := range r.Stages {
			sum += s.Share
		}
		if !(r.Alone >= 0) || sum > r.Alone*(1+1e-12) {
			t.Errorf("%s with %d workers: stages with a share of %g, alone %g", r.Method, r.Workers, sum,
				r.Alone)
		}
	}
	o.Methods = []string{"kfoo"}
	if err := Run(context.Background(), o, func(Result) {}); err == nil ||
		!strings.Contains(err.Error(), "kfoo") {
		t.Errorf("error %v, want one that names the method", err)
	}
}

// TestPlace checks that the functions are those of the goroutine, without the rest of the stack.
func TestPlace(t *testing.T) {
	const stacks = `goroutine 1 [running]:
github.com/mustlink/mustlink/engine.other(0x1)
	engine.go:1

goroutine 17 [chan receive]:
runtime.gopark(0x1)
	proc.go:1
github.com/mustlink/mustlink/blas/tile.(*crew).run(0x1, {0x2, 0x3})
	tile.go:2
github.com/mustlink/mustlink/algorithms/krca.(*metric).gram(...)
	metric.go:3

goroutine 170 [select]:
github.com/mustlink/mustlink/engine.third(0x1)
`
	if got, want := place(stacks, "goroutine 17 "), "tile.(*crew).run < krca.(*metric).gram"; got != want {
		t.Errorf("place %q, want %q", got, want)
	}
	if own := goroutine(); !strings.HasPrefix(own, "goroutine ") || strings.ContainsAny(own, "[]") {
		t.Errorf("goroutine %q", own)
	}
}

// TestSchedule plays forks with tasks of known lengths: the free worker takes the next task, a fork
// within a task shortens it, and a worker that is woken later begins later.
func TestSchedule(t *testing.T) {
	now := 0.0
	play := func(wake float64, workers int, f func(s *schedule)) *schedule {
		now = 0
		s := &schedule{clock: func() float64 { return now }, wake: wake, workers: workers,
			waits: map[string]float64{}}
		f(s)
		return s
	}
	tasks := func(lengths ...float64) func(int) { return func(i int) { now += lengths[i] } }
	for _, c := range []struct {
		name                string
		wake                float64
		workers             int
		f                   func(s *schedule)
		saved, forked, idle float64
	}{
		{"one long task", 0, 2, func(s *schedule) { s.fork(2, 4, tasks(3, 1, 1, 1)) }, 3, 3, 0},
		{"a long task last", 0, 2, func(s *schedule) { s.fork(2, 3, tasks(1, 1, 4)) }, 1, 5, 4},
		{"fewer tasks than workers", 0, 4, func(s *schedule) { s.fork(4, 2, tasks(1, 2)) }, 1, 2, 5},
		{"two forks", 0, 2, func(s *schedule) {
			s.fork(2, 2, tasks(2, 2))
			now += 7 // outside
			s.fork(2, 2, tasks(1, 3))
		}, 3, 5, 2},
		{"a fork in a task", 0, 4, func(s *schedule) {
			s.fork(2, 2, func(int) { s.fork(2, 2, tasks(1, 1)) })
		}, 3, 1, 2},
		{"the second worker wakes", 0.5, 2, func(s *schedule) { s.fork(2, 2, tasks(2, 2)) }, 1.5, 2.5, 1},
	} {
		s := play(c.wake, c.workers, c.f)
		if s.saved != c.saved || s.forked != c.forked || s.idle != c.idle {
			t.Errorf("%s: saved %g, forked %g, idle %g, want %g, %g, %g", c.name, s.saved, s.forked, s.idle,
				c.saved, c.forked, c.idle)
		}
	}
}

// TestPredict: a fit whose forks an observer runs learns the same, and is predicted to take no
// longer than one worker, and no less than its share.
func TestPredict(t *testing.T) {
	var results []Result
	o := Options{Methods: []string{"krca", "gml"}, Rows: 600, Features: 6, Links: 300, Workers: []int{1},
		Predict: []int{4}, Rounds: 1, Seed: 1}
	if err := Run(context.Background(), o, func(r Result) { results = append(results, r) }); err != nil {
		t.Fatal(err)
	}
	if len(results) != 3*len(o.Methods) {
		t.Fatalf("%d results, want one worker, and one and four predicted", len(results))
	}
	for k := 0; k < len(results); k += 3 {
		one, four := results[k+1], results[k+2]
		if one.Predicted == nil || four.Predicted == nil || one.Predicted.Forks != 0 || one.Times != 1 {
			t.Fatalf("one worker: %+v", one)
		}
		p := four.Predicted
		if p.Forks == 0 || !(p.Serial > 0 && p.Waiting > 0 && p.Serial+p.Waiting < 1) ||
			!(p.Seconds < four.Seconds && p.Seconds > four.Seconds/4) {
			t.Errorf("%s: four workers: %.3g s of %.3g: %+v", four.Method, p.Seconds, four.Seconds, *p)
		}
	}
	x, set, err := o.draw()
	if err != nil {
		t.Fatal(err)
	}
	learner, err := system.Learner("krca", nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	embed := func() []float64 {
		eng, err := engine.New(engine.Options{Workers: 4})
		if err != nil {
			t.Fatal(err)
		}
		m, err := learner.Fit(context.Background(), eng, x, set)
		if err != nil {
			t.Fatal(err)
		}
		z, err := m.Embed(context.Background(), eng, x)
		if err != nil {
			t.Fatal(err)
		}
		return z.Data
	}
	want := embed()
	end := forks.Observe(func(_, tasks int, task func(int)) {
		for i := range tasks {
			task(i)
		}
	})
	defer end()
	if got := embed(); !slices.Equal(got, want) {
		t.Error("an observed fit has other coordinates")
	}
}
