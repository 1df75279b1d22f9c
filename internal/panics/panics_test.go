package panics

import (
	"errors"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
)

// TestRun: f runs once on each goroutine; a panic of any reaches the caller when all have ended.
func TestRun(t *testing.T) {
	var calls atomic.Int64
	Run(5, func() { calls.Add(1) })
	if calls.Load() != 5 {
		t.Errorf("%d calls: want 5", calls.Load())
	}
	cause := errors.New("no such page")
	for fails := range int64(5) {
		calls.Store(0)
		func() {
			defer func() {
				v := recover()
				err, _ := v.(error)
				if !errors.Is(err, cause) || calls.Load() != 5 {
					t.Errorf("recovered %v after %d calls: want the cause after 5", v, calls.Load())
				}
				if p, is := v.(*Panic); is && !strings.Contains(p.Error(), "panics_test.go") {
					t.Errorf("the message %q lacks the stack", p.Error())
				}
			}()
			Run(5, func() {
				if calls.Add(1) == fails+1 {
					panic(cause)
				}
			})
		}()
	}
}

// TestFaults: the other goroutines have the setting of the caller.
func TestFaults(t *testing.T) {
	for _, want := range []bool{true, false} {
		debug.SetPanicOnFault(want)
		Run(4, func() {
			got := debug.SetPanicOnFault(want)
			if got != want {
				t.Errorf("the setting is %v: want %v", got, want)
			}
		})
	}
}

// TestRecovered: a panic is wrapped once.
func TestRecovered(t *testing.T) {
	if p := Recovered(nil); p != nil {
		t.Errorf("nothing recovered: got %v", p)
	}
	inner := &Panic{Value: 1}
	if p := Recovered(inner); p != inner {
		t.Errorf("got %v: want the panic as it was", p)
	}
}
