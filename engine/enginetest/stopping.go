package enginetest

import (
	"context"
	"sync/atomic"
)

// Stopping is a context that ends at the n-th call of Err, so that a test can cancel work at every
// place that checks the context, at any speed of the machine.
type Stopping struct {
	context.Context
	cancel context.CancelFunc
	last   int64
	looks  atomic.Int64
}

// StopAt returns a context that ends at the n-th call of Err; with n = 0 it only counts.
func StopAt(n int) *Stopping {
	s := &Stopping{last: int64(n)}
	s.Context, s.cancel = context.WithCancel(context.Background())
	return s
}

// Err counts the call.
func (s *Stopping) Err() error {
	if s.looks.Add(1) == s.last {
		s.cancel()
	}
	return s.Context.Err()
}

// Stopped reports whether the context has ended.
func (s *Stopping) Stopped() bool { return s.Context.Err() != nil }

// Looks returns the number of calls of Err.
func (s *Stopping) Looks() int { return int(s.looks.Load()) }
