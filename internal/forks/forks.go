// Package forks lets a measurement see where work is divided among goroutines: it may take over the
// tasks of each such fork, for instance to run them one after another and to time them.
package forks

import (
	"runtime"
	"sync/atomic"
)

// Observer runs the tasks 0 to tasks-1 of a fork, each exactly once and in ascending order of their
// starts, instead of the given number of goroutines.
type Observer func(workers, tasks int, task func(i int))

var observer atomic.Pointer[Observer]

// Observe hands the forks of the process to o, until the function that it returns is called.
func Observe(o Observer) (end func()) {
	observer.Store(&o)
	return func() { observer.Store(nil) }
}

// Watched reports whether an observer runs the tasks of forks.
func Watched() bool { return observer.Load() != nil }

// Observed has the observer run a fork. Without an observer it returns false: the caller runs it.
func Observed(workers, tasks int, task func(i int)) bool {
	o := observer.Load()
	if o == nil {
		return false
	}
	(*o)(workers, tasks, task)
	return true
}

// Processors returns on how many goroutines so many workers share work that keeps processors busy:
// no more than there are processors, unless an observer runs the tasks.
func Processors(workers int) int {
	if Watched() {
		return workers
	}
	return min(workers, runtime.NumCPU(), runtime.GOMAXPROCS(0))
}
