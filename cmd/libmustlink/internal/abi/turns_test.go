package abi

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// Never more goroutines work than there are processors. All get their turn, also after one that
// panics. A waiting one can be canceled.
func TestTurns(t *testing.T) {
	turns, most := NewTurns(), int64(runtime.GOMAXPROCS(0))
	var at, done atomic.Int64
	var wg sync.WaitGroup
	for k := range 200 {
		wg.Go(func() {
			defer func() { _ = recover() }()
			_ = turns.Take(t.Context(), func() error {
				defer at.Add(-1)
				if now := at.Add(1); now > most {
					t.Errorf("%d work at a time: want at most %d", now, most)
				}
				runtime.Gosched()
				done.Add(1)
				if k%3 == 0 {
					panic("of one")
				}
				return nil
			})
		})
	}
	wg.Wait()
	if done.Load() != 200 {
		t.Errorf("%d got their turn: want 200", done.Load())
	}

	hold, held := make(chan struct{}), make(chan struct{})
	for range most {
		wg.Go(func() {
			_ = turns.Take(t.Context(), func() error { held <- struct{}{}; <-hold; return nil })
		})
		<-held
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := turns.Take(ctx, func() error {
		t.Error("worked out of turn")
		return nil
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v: want the context's error", err)
	}
	close(hold)
	wg.Wait()
}
