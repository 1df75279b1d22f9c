// Package heapfloor lets a program's garbage grow to a fixed size before it is collected.
//
// Go collects when there is as much garbage as there is memory in use. A program that has little in use, and makes small things by
// the thousand, then collects hundreds of times a second, and each time on all its processors.
package heapfloor

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Metrics of the runtime.
const (
	live    = "/gc/heap/live:bytes"
	percent = "/gc/gogc:percent"
)

// smallest is what the runtime takes a smaller heap for.
const smallest = 4 << 20

// floor sets the percentage of garbage anew after every collection.
type floor struct {
	bytes uint64
	own   int // the percentage without a floor

	mu   sync.Mutex
	set  int // the latest percentage, 0 for none
	done bool
}

// Hold lets there be so many bytes of garbage before it is collected, or as much as there is memory in use if that is more, until
// release is called. It changes nothing if the variable GOGC is in the environment, and leaves alone a percentage that the program sets
// itself (debug.SetGCPercent) as long as that stands. Memory limits (debug.SetMemoryLimit) hold as before.
func Hold(bytes int64) (release func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	_, own := read()
	if own < 0 { // never collected
		return func() {}
	}
	f := &floor{bytes: uint64(bytes), own: own}
	f.adjust()
	return f.release
}

// adjust chooses the percentage for the memory that is in use now, and comes back after the next collection.
func (f *floor) adjust() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.done {
		return
	}
	inUse, now := read()
	if f.set == 0 || now == f.set {
		f.set = max(f.own, int(100*f.bytes/max(inUse, smallest)))
		if f.set != now { // it stops the world for a moment
			debug.SetGCPercent(f.set)
		}
	}
	// Nothing refers to it: it goes with the next collection.
	runtime.AddCleanup(&struct{ of *floor }{f}, func(f *floor) { f.adjust() }, f)
}

func (f *floor) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, now := read(); !f.done && now == f.set {
		debug.SetGCPercent(f.own)
	}
	f.done = true
}

// read returns the bytes that were in use at the end of the latest collection, and the percentage of garbage that is let be.
func read() (inUse uint64, gogc int) {
	s := []metrics.Sample{{Name: live}, {Name: percent}}
	metrics.Read(s)
	return s[0].Value.Uint64(), int(s[1].Value.Uint64())
}
