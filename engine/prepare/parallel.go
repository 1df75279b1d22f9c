package prepare

import (
	"runtime"
	"sync/atomic"

	"github.com/mustlink/mustlink/internal/panics"
)

// parallel calls f for 0..n-1 on all processors. Every part writes what is its own, so the result
// does not depend on their number.
func parallel(n int, f func(k int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers <= 1 {
		for k := range n {
			f(k)
		}
		return
	}
	var next atomic.Int64
	panics.Run(workers, func() {
		for k := int(next.Add(1)) - 1; k < n; k = int(next.Add(1)) - 1 {
			f(k)
		}
	})
}
