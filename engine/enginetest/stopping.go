package enginetest

import (
	"context"
	"sync/atomic"
)

// Stopping is a context that ends when it is looked at (Err) for the n-th time, which makes every
// place where work may be canceled reachable from a test, whatever the speed of the machine.
type Stopping struct {
	context.Context
	cancel context.CancelFunc
	last   int64
	looks  atomic.Int64
}

// StopAt returns a context that ends at the n-th look; one that only counts for n = 0.
func StopAt(n int) *Stopping {
	s := &Stopping{last: int64(n)}
	s.Context, s.cancel = context.WithCancel(context.Background())
	return s
}

// Err counts the look.
func (s *Stopping) Err() error {
	if s.looks.Add(1) == s.last {
		s.cancel()
	}
	return s.Context.Err()
}

// Stopped says whether the context has ended.
func (s *Stopping) Stopped() bool { return s.Context.Err() != nil }

// Looks returns how often the context was looked at.
func (s *Stopping) Looks() int { return int(s.looks.Load()) }
