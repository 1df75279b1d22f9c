package abi

import (
	"context"
	"runtime"
)

// Turns has as many fits work at a time as Go has processors; others wait for their turn. With more
// of them the matrices of each would be gone from the caches whenever it comes to work.
type Turns struct{ taken chan struct{} }

// NewTurns returns the turns of a process.
func NewTurns() Turns { return Turns{make(chan struct{}, runtime.GOMAXPROCS(0))} }

// Take waits for a turn, does work and gives it back. Where ctx ends before, its error is returned.
func (t Turns) Take(ctx context.Context, work func() error) error {
	select {
	case t.taken <- struct{}{}:
		defer func() { <-t.taken }()
		return work()
	case <-ctx.Done():
		return ctx.Err()
	}
}
