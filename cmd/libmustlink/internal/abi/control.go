package abi

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/mustlink/mustlink/algorithms"
)

// Control is a mustlink_control: how a call is watched and canceled.
type Control struct {
	Cancel *int32
	// Report is called on the thread of the call, nil for nobody; false cancels. With a nil argument
	// there is no news.
	Report   func(*algorithms.Progress) bool
	Interval time.Duration // between two calls of Report; 0: 50 ms
}

// How often a call looks whether it was canceled.
const look = 10 * time.Millisecond

// run does work on this thread, or, when somebody watches, on another one: then this thread is the
// one that reports, and looks at the flag.
func (c *Control) run(work func(context.Context, algorithms.ProgressFunc) error) error {
	if c == nil || c.Cancel == nil && c.Report == nil {
		return Guard(func() error { return work(context.Background(), nil) })
	}
	if c.canceled() {
		return context.Canceled
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	news, done := new(atomic.Pointer[algorithms.Progress]), make(chan error, 1)
	go func() {
		done <- Guard(func() error {
			return work(ctx, func(p algorithms.Progress) { news.Store(&p) })
		})
	}()
	tick := time.NewTicker(min(look, c.interval()))
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case err := <-done:
			return err
		case now := <-tick.C:
			if c.canceled() {
				cancel()
			}
			if c.Report != nil && now.Sub(last) >= c.interval() {
				last = now
				if ctx.Err() == nil && !c.Report(news.Swap(nil)) {
					cancel()
				}
			}
		}
	}
}

func (c *Control) canceled() bool { return c.Cancel != nil && atomic.LoadInt32(c.Cancel) != 0 }

func (c *Control) interval() time.Duration {
	if c.Interval <= 0 {
		return 50 * time.Millisecond
	}
	return c.Interval
}
