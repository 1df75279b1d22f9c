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

// gate is the one gate of the process: small calls share it, a large one has it alone. While no
// call has it alone, OpenBLAS is set to one thread.
var gate struct {
	sync.RWMutex
	taken  atomic.Bool // whether OpenBLAS's threads are set here
	taking sync.Mutex
	before C.int // the thread count before that
}

// take sets OpenBLAS to one thread, for calls that hold the gate in either way.
func take() {
	gate.taking.Lock()
	defer gate.taking.Unlock()
	if !gate.taken.Load() {
		gate.before = C.openblas_get_num_threads()
		C.openblas_set_num_threads(1)
		gate.taken.Store(true)
	}
}

// Release restores the thread count that OpenBLAS had before the first call of this package, or the
// first since the last Release, for processes in which other code calls OpenBLAS, too. It waits for
// running calls.
func Release() {
	gate.Lock()
	defer gate.Unlock()
	if gate.taken.Load() {
		C.openblas_set_num_threads(gate.before)
		gate.taken.Store(false)
	}
}

// enter opens the gate for a call of the given flops and returns the function that leaves it.
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

// These functions leave the gate. They are created once, because a method value or a closure is an
// allocation for each call.
var (
	leaveShared = gate.RUnlock
	leaveAlone  = func() {
		C.openblas_set_num_threads(1)
		gate.Unlock()
	}
)

// library returns OpenBLAS's description of itself: version, options, core.
func library() string {
	return C.GoString(C.openblas_get_config()) + ", core " + core()
}

// core returns the processor whose kernels OpenBLAS runs.
func core() string { return C.GoString(C.openblas_get_corename()) }

// currentThreads returns OpenBLAS's own number of threads, for the tests.
func currentThreads() int { return int(C.openblas_get_num_threads()) }

// setThreads is what others in the process do, for the tests.
func setThreads(n int) { C.openblas_set_num_threads(C.int(n)) }
