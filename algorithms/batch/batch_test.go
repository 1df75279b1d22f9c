package batch_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/algorithms/batch"
	"github.com/mustlink/mustlink/algorithms/catalog"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/engine/links"
	"github.com/mustlink/mustlink/engine/points"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// toy is a learner whose fit is a function of the test.
type toy struct {
	fit func(ctx context.Context, eng *engine.Engine) error
}

func (toy) Method() string { return "toy" }

func (l toy) Fit(ctx context.Context, eng *engine.Engine, _ points.Points,
	_ *links.Set) (algorithms.Model, error) {
	return nil, l.fit(ctx, eng)
}

// job returns a job of n points without links.
func job(t testing.TB, n int, l algorithms.Learner) batch.Job {
	t.Helper()
	set, err := links.New(n, nil)
	if err != nil {
		t.Fatal(err)
	}
	return batch.Job{Learner: l, Points: &points.Dense{N: n, D: 1, Data: make([]float64, n)}, Links: set}
}

func fit(t testing.TB, ctx context.Context, eng *engine.Engine, jobs iter.Seq[batch.Job],
	o batch.Options) iter.Seq[batch.Result] {
	t.Helper()
	results, err := batch.Fit(ctx, eng, jobs, o)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// Concurrent fits of real methods with one cache are bit-identical to separate fits, and in order.
func TestFitsAreThoseAlone(t *testing.T) {
	var jobs []batch.Job
	for _, name := range []string{"krca", "npkl", "lleratio", "kbeta", "gml", "rca", "lleratio", "llma"} {
		method, err := catalog.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		learner, err := method.New(catalog.Config{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{30, 60} {
			x, _, set := enginetest.Rings(t, n, 10, 1)
			jobs = append(jobs, batch.Job{Learner: learner, Points: x, Links: set})
		}
	}
	cache, err := engine.NewCache(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	ctx, alone := context.Background(), enginetest.New(t, 1)
	shared, err := engine.New(engine.Options{Backend: alone.Backend(), Workers: 3, Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	next := 0
	for r := range fit(t, ctx, shared, slices.Values(jobs), batch.Options{Large: 60}) {
		if r.Index != next || r.Err != nil {
			t.Fatalf("result %d: want %d (%v)", r.Index, next, r.Err)
		}
		want, err := jobs[next].Learner.Fit(ctx, alone, jobs[next].Points, jobs[next].Links)
		if err != nil {
			t.Fatal(err)
		}
		g, errG := r.Model.Gram(ctx, alone, jobs[next].Points, nil)
		w, errW := want.Gram(ctx, alone, jobs[next].Points, nil)
		if errG != nil || errW != nil || !slices.Equal(g.Data, w.Data) {
			t.Errorf("job %d, %s: another Gram matrix than alone (%v, %v)", next, want.Method(), errG, errW)
		}
		next++
	}
	if s := cache.Stats(); next != len(jobs) || s.Hits == 0 {
		t.Errorf("%d results, %+v", next, s)
	}
}

// Results come in the order of the jobs, whenever they are ready, and an error affects its own job
// only.
func TestOrder(t *testing.T) {
	broken := errors.New("broken")
	jobs := func(yield func(batch.Job) bool) {
		for i := range 200 {
			l := toy{func(context.Context, *engine.Engine) error {
				time.Sleep(time.Duration(i*7%5) * time.Millisecond / 4)
				if i%10 == 3 {
					return fmt.Errorf("%d: %w", i, broken)
				}
				return nil
			}}
			j := job(t, 2, l)
			if i%50 == 20 {
				j.Links = nil
			}
			if !yield(j) {
				return
			}
		}
	}
	n := 0
	for r := range fit(t, context.Background(), enginetest.New(t, 4), jobs, batch.Options{}) {
		switch {
		case r.Index != n:
			t.Fatalf("result %d, want %d", r.Index, n)
		case n%50 == 20 && !fault.IsInput(r.Err), n%10 == 3 && !errors.Is(r.Err, broken), n%50 != 20 &&
			n%10 != 3 && r.Err != nil:
			t.Errorf("job %d: %v", n, r.Err)
		}
		n++
	}
	if n != 200 {
		t.Errorf("%d results", n)
	}
}

// At most Parallel small jobs run at a time, each with its part of the workers, and a large job
// runs alone with all workers.
func TestRoom(t *testing.T) {
	const workers, parallel = 6, 3
	var small, large, most atomic.Int64
	var jobs []batch.Job
	for i := range 60 {
		n := 2
		if i%7 == 4 {
			n = 10
		}
		jobs = append(jobs, job(t, n, toy{func(_ context.Context, eng *engine.Engine) error {
			count, want := &small, workers/parallel
			if n == 10 {
				count, want = &large, workers
			}
			count.Add(1)
			defer count.Add(-1)
			if eng.Workers() != want {
				t.Errorf("job %d of %d points: %d workers", i, n, eng.Workers())
			}
			time.Sleep(time.Millisecond)
			s, l := small.Load(), large.Load()
			if l > 1 || l == 1 && s > 0 || s > parallel {
				t.Errorf("%d small and %d large jobs at a time", s, l)
			}
			most.Store(max(most.Load(), s))
			return nil
		}}))
	}
	for range fit(t, context.Background(), enginetest.New(t, workers), slices.Values(jobs),
		batch.Options{Parallel: parallel, Large: 10}) {
	}
	if most.Load() < 2 {
		t.Error("the small jobs did not run side by side")
	}
}

// Without options a job of few points has one worker, and one of DefaultLarge points has all.
func TestDefaults(t *testing.T) {
	const workers = 4
	var seen [2]atomic.Int64
	var jobs []batch.Job
	for i, n := range []int{batch.DefaultLarge - 1, batch.DefaultLarge} {
		jobs = append(jobs, job(t, n, toy{func(_ context.Context, eng *engine.Engine) error {
			seen[i].Store(int64(eng.Workers()))
			return nil
		}}))
	}
	for r := range fit(t, t.Context(), enginetest.New(t, workers), slices.Values(jobs), batch.Options{}) {
		if r.Err != nil {
			t.Error(r.Err)
		}
	}
	if small, large := seen[0].Load(), seen[1].Load(); small != 1 || large != workers {
		t.Errorf("a small job has %d workers and a large one %d: want 1 and %d", small, large, workers)
	}
}

// While the first job takes long, others run: eight for each that may run at a time.
func TestAhead(t *testing.T) {
	const parallel, others = 2, 15
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	done := make(chan bool, others)
	jobs := []batch.Job{job(t, 2, toy{func(ctx context.Context, _ *engine.Engine) error {
		for k := range others {
			select {
			case <-done:
			case <-ctx.Done():
				return fmt.Errorf("%d of %d other jobs ran during the first", k, others)
			}
		}
		return nil
	}})}
	for range others {
		jobs = append(jobs, job(t, 2, toy{func(context.Context, *engine.Engine) error {
			done <- true
			return nil
		}}))
	}
	for r := range fit(t, ctx, enginetest.New(t, 2), slices.Values(jobs),
		batch.Options{Parallel: parallel}) {
		if r.Err != nil {
			t.Error(r.Err)
		}
	}
}

// The end of the context, the end of the loop, and a panic end all jobs.
func TestEnd(t *testing.T) {
	endless := func(l algorithms.Learner) iter.Seq[batch.Job] {
		return func(yield func(batch.Job) bool) {
			for yield(job(t, 2, l)) {
			}
		}
	}
	waits := toy{func(ctx context.Context, _ *engine.Engine) error { <-ctx.Done(); return ctx.Err() }}
	eng := enginetest.New(t, 2)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	for r := range fit(t, ctx, eng, endless(waits), batch.Options{}) {
		if !errors.Is(r.Err, context.DeadlineExceeded) {
			t.Errorf("at the end of the context: %v", r.Err)
		}
	}
	n := 0
	for range fit(t, context.Background(), eng, endless(toy{func(context.Context, *engine.Engine) error {
		return nil
	}}), batch.Options{}) {
		if n++; n == 5 {
			break
		}
	}
	for name, jobs := range map[string]iter.Seq[batch.Job]{
		"a job":    endless(toy{func(context.Context, *engine.Engine) error { panic("oh") }}),
		"the jobs": func(func(batch.Job) bool) { panic("oh") },
	} {
		func() {
			defer func() {
				if p, ok := recover().(*engine.Panic); !ok || p.Value != "oh" {
					t.Errorf("%s panicked: %v", name, p)
				}
			}()
			for range fit(t, context.Background(), eng, jobs, batch.Options{}) {
			}
		}()
	}
	for _, o := range []batch.Options{{Parallel: -1}, {Large: -1}} {
		if _, err := batch.Fit(context.Background(), eng, endless(waits), o); !fault.IsInput(err) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
