package native

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// team is a few goroutines that repeat numbered tasks, for steps so short that the time to wake
// goroutines would matter. Between two runs the goroutines spin, so a team should exist only
// while the steps follow each other closely.
type team struct {
	tasks      int64
	f          func(i int)
	next, done atomic.Int64
	over       atomic.Bool
	wg         sync.WaitGroup
}

// newTeam starts helpers for runs of that many tasks.
func newTeam(helpers, tasks int) *team {
	t := &team{tasks: int64(tasks)}
	t.next.Store(t.tasks)
	for range helpers {
		t.wg.Go(t.help)
	}
	return t
}

// run calls f(0), ..., f(tasks-1), on the caller and on the helpers that are awake.
func (t *team) run(f func(i int)) {
	t.f = f // for the helpers that see next below tasks
	t.done.Store(0)
	t.next.Store(0)
	for t.take() {
	}
	for spins := 0; t.done.Load() < t.tasks; spins++ {
		rest(spins)
	}
}

// take does one task if one is left.
func (t *team) take() bool {
	if t.next.Load() >= t.tasks {
		return false
	}
	i := t.next.Add(1) - 1
	if i >= t.tasks {
		return false
	}
	t.f(int(i))
	t.done.Add(1)
	return true
}

func (t *team) help() {
	for spins := 0; !t.over.Load(); spins++ {
		if t.take() {
			spins = 0
		}
		rest(spins)
	}
}

// rest occasionally lets other goroutines run.
func rest(spins int) {
	if spins%64 == 63 {
		runtime.Gosched()
	}
}

// stop ends the helpers and waits for them.
func (t *team) stop() {
	t.over.Store(true)
	t.wg.Wait()
}
