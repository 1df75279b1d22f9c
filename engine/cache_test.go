package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/enginetest"
	"github.com/mustlink/mustlink/engine/fault"
)

func cached(t *testing.T, limit int64) (*engine.Engine, *engine.Cache) {
	t.Helper()
	c, err := engine.NewCache(limit)
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.With(t, engine.Options{Workers: 2, Cache: c}), c
}

func keyOf(n int) func() engine.CacheKey {
	return func() engine.CacheKey { return engine.KeyOf("number", [32]byte{}, n) }
}

func eight(int) int64 { return 8 }

// Any number of concurrent requests for a value compute it once, and all get it.
func TestCachedComputesOnce(t *testing.T) {
	eng, c := cached(t, 1<<20)
	var computed atomic.Int64
	var wg sync.WaitGroup
	for g := range 64 {
		wg.Go(func() {
			for i := range 100 {
				n := (i + g) % 10
				v, err := engine.Cached(context.Background(), eng, keyOf(n), eight, func() (int, error) {
					computed.Add(1)
					return n * n, nil
				})
				if v != n*n || err != nil {
					t.Errorf("%d: %d, %v", n, v, err)
				}
			}
		})
	}
	for range 100 { // while others change them
		c.Stats()
		runtime.Gosched()
	}
	wg.Wait()
	s := c.Stats()
	if computed.Load() != 10 || s.Misses != 10 || s.Hits != 6390 || s.Entries != 10 || s.Bytes != 80 {
		t.Errorf("computed %d times, %+v", computed.Load(), s)
	}
}

// The cache never exceeds its limit and keeps the most recently used values.
func TestCacheForgetsTheOldest(t *testing.T) {
	eng, c := cached(t, 80)
	rng := rand.New(rand.NewPCG(1, 1))
	var order []int // by last use, the most recent last
	for range 2000 {
		n := rng.IntN(15)
		fresh := false
		if _, err := engine.Cached(context.Background(), eng, keyOf(n), eight, func() (int, error) {
			fresh = true
			return n, nil
		}); err != nil {
			t.Fatal(err)
		}
		held := false
		for i, o := range order {
			if o == n {
				held = true
				order = append(order[:i], order[i+1:]...)
				break
			}
		}
		order = append(order, n)
		if len(order) > 10 {
			order = order[1:]
		}
		if s := c.Stats(); held == fresh || s.Bytes != int64(8*len(order)) || s.Entries != len(order) {
			t.Fatalf("%d was held: %v, computed: %v, %+v, want %v", n, held, fresh, s, order)
		}
	}
	if _, err := engine.Cached(context.Background(), eng, keyOf(99), func(int) int64 {
		return 81
	}, func() (int, error) { return 1, nil }); err != nil {
		t.Fatal(err)
	}
	if s := c.Stats(); s.Bytes != 80 || s.Entries != 10 {
		t.Errorf("a value beyond the limit was kept: %+v", s)
	}
}

// An error, a panic and the end of a context concern only the caller that computed: nothing is
// kept, and a waiting caller computes itself.
func TestCachedForgetsFailures(t *testing.T) {
	eng, c := cached(t, 1<<20)
	ctx, cancel := context.WithCancel(context.Background())
	begun, waits := make(chan struct{}), make(chan error)
	go func() {
		<-begun
		v, err := engine.Cached(context.Background(), eng, keyOf(1), eight, func() (int, error) {
			return 7, nil
		})
		if v != 7 {
			err = fmt.Errorf("value %d, %w", v, err)
		}
		waits <- err
	}()
	_, err := engine.Cached(ctx, eng, keyOf(1), eight, func() (int, error) {
		close(begun)
		cancel()
		return 0, ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if err := <-waits; err != nil {
		t.Errorf("the waiting caller got %v", err)
	}
	func() {
		defer func() {
			if recover() != "oh" {
				t.Error("the panic was lost")
			}
		}()
		_, _ = engine.Cached(context.Background(), eng, keyOf(2), eight, func() (int, error) { panic("oh") })
	}()
	if v, err := engine.Cached(context.Background(), eng, keyOf(2), eight, func() (int, error) {
		return 3, nil
	}); v != 3 || err != nil {
		t.Errorf("after a panic: %d, %v", v, err)
	}
	if s := c.Stats(); s.Entries != 2 {
		t.Errorf("%+v: want the two values", s)
	}
	if _, err := engine.NewCache(0); !fault.IsInput(err) {
		t.Errorf("no room: %v", err)
	}
}

// An engine without a cache gets one to share; an engine with a cache keeps it.
func TestSharing(t *testing.T) {
	eng := enginetest.New(t, 0)
	shared, err := eng.Sharing(1 << 20)
	if err != nil || shared.Cache() == nil || eng.Cache() != nil {
		t.Fatalf("cache %v of an engine with %v: %v", shared.Cache(), eng.Cache(), err)
	}
	if again, err := shared.Sharing(1); err != nil || again != shared {
		t.Errorf("an engine with a cache became another: %v", err)
	}
	if _, err := eng.Sharing(0); !fault.IsInput(err) {
		t.Errorf("no bytes: %v", err)
	}
}
