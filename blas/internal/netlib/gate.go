//go:build netlib && cgo && !purego

package netlib

// #cgo pkg-config: openblas lapacke
// extern void openblas_set_num_threads(int);
// extern int openblas_get_num_threads(void);
// extern char *openblas_get_config(void);
// extern char *openblas_get_corename(void);
import "C"

import (
	"sync"
	"sync/atomic"
)

// largeFlops is the work from which a call runs alone with all threads: some 200 us on
// one core, where starting OpenBLAS's threads (about 10 us) no longer shows.
const largeFlops = 8e6

// gate is the one gate of the process: shared by small calls, held alone by a large one.
// While nobody holds it alone, OpenBLAS is set to one thread.
var gate struct {
	sync.RWMutex
	taken  atomic.Bool // OpenBLAS's threads are set here
	taking sync.Mutex
	before C.int // how many there were
}

// take sets OpenBLAS to one thread, for who holds the gate in either way.
func take() {
	gate.taking.Lock()
	defer gate.taking.Unlock()
	if !gate.taken.Load() {
		gate.before = C.openblas_get_num_threads()
		C.openblas_set_num_threads(1)
		gate.taken.Store(true)
	}
}

// Release gives OpenBLAS back the number of threads that it had before the first call of this package or the first since the last Release,
// for processes in which others call OpenBLAS too. It waits for calls under way.
func Release() {
	gate.Lock()
	defer gate.Unlock()
	if gate.taken.Load() {
		C.openblas_set_num_threads(gate.before)
		gate.taken.Store(false)
	}
}

// enter opens the gate for a call of that many flops and returns the way out.
func enter(flops float64, threads int) (leave func()) {
	if flops < largeFlops || threads == 1 {
		gate.RLock()
		if !gate.taken.Load() {
			take()
		}
		return leaveShared
	}
	gate.Lock()
	take()
	C.openblas_set_num_threads(C.int(threads))
	return leaveAlone
}

// The ways out, made once: a method value or a closure is an allocation for each call.
var (
	leaveShared = gate.RUnlock
	leaveAlone  = func() {
		C.openblas_set_num_threads(1)
		gate.Unlock()
	}
)

// library returns what OpenBLAS says of itself: version, options, core.
func library() string {
	return C.GoString(C.openblas_get_config()) + ", core " + C.GoString(C.openblas_get_corename())
}

// currentThreads returns OpenBLAS's own number of threads, for the tests.
func currentThreads() int { return int(C.openblas_get_num_threads()) }

// setThreads is what others in the process do, for the tests.
func setThreads(n int) { C.openblas_set_num_threads(C.int(n)) }
