package abi

import (
	"context"
	"runtime"
)

// Turns limits the number of fits that run at a time to the number of Go's processors. Others wait,
// because more fits at a time would displace each other's matrices from the caches.
type Turns struct{ taken chan struct{} }

// NewTurns returns the limiter of a process.
func NewTurns() Turns { return Turns{make(chan struct{}, runtime.GOMAXPROCS(0))} }

// Take waits for a turn and runs work. When ctx ends before, it returns the error of ctx.
func (t Turns) Take(ctx context.Context, work func() error) error {
	select {
	case t.taken <- struct{}{}:
		defer func() { <-t.taken }()
		return work()
	case <-ctx.Done():
		return ctx.Err()
	}
}
