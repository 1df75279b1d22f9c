//go:build netlib && cgo && !purego

package netlib

// #cgo pkg-config: openblas lapacke
// extern void openblas_set_num_threads(int);
// extern int openblas_get_num_threads(void);
// extern char *openblas_get_config(void);
// extern char *openblas_get_corename(void);
import "C"

import "sync"

// largeFlops is the work from which a call runs alone with all threads: some 200 us on
// one core, where starting OpenBLAS's threads (about 10 us) no longer shows.
const largeFlops = 8e6

// gate is the one gate of the process: shared by small calls, held alone by a large one.
// While nobody holds it alone, OpenBLAS is set to one thread.
var gate struct {
	sync.RWMutex
	once sync.Once
}

// enter opens the gate for a call of that many flops and returns the way out.
func enter(flops float64, threads int) (leave func()) {
	gate.once.Do(func() { C.openblas_set_num_threads(1) })
	if flops < largeFlops || threads == 1 {
		gate.RLock()
		return leaveShared
	}
	gate.Lock()
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
