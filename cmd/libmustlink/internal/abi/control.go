package abi

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/mustlink/mustlink/algorithms"
)

// Control is a mustlink_control: it observes and cancels a call.
type Control struct {
	Cancel *int32
	// Report, unless nil, is called on the thread of the call, and cancels it by returning false.
	// The argument is nil when there is no progress to report.
	Report   func(*algorithms.Progress) bool
	Interval time.Duration // between calls of Report; 0: 50 ms
}

// Interval at which a call checks whether it was canceled.
const look = 10 * time.Millisecond

// run runs work on this thread. When it must report or check the flag, it does so on this thread
// and runs work on another one.
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
