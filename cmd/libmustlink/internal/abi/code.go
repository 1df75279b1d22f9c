// Package abi implements the functions of mustlink.h, in Go only: handles, codes, matrices with
// strides in the caller's memory, options in JSON, cancellation and progress.
//
// The package keeps no pointer of a caller: it copies points that a model may keep.
package abi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mustlink/mustlink"
	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// Version is the MUSTLINK_ABI of mustlink.h.
const Version = 1

// Code is a code of mustlink_code.
type Code int32

// The codes of mustlink.h.
const (
	OK Code = iota
	BadInput
	BadArgument
	BadHandle
	NoMemory
	Canceled
	BadFile
	TooSmall
	BadVersion
	Forked
	Failed
)

// Error is an error of the interface itself, not of the library below it.
type Error struct {
	Code Code
	Text string
}

func (e *Error) Error() string { return e.Text }

// argument returns an error of the calling program.
func argument(format string, args ...any) *Error {
	return &Error{BadArgument, fmt.Sprintf(format, args...)}
}

// CodeOf returns the code of an error, as mustlink.h defines it.
func CodeOf(err error) Code {
	if err == nil {
		return OK
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	if _, ok := errors.AsType[*fault.MemoryError](err); ok {
		return NoMemory
	}
	switch {
	case errors.Is(err, context.Canceled):
		return Canceled
	case isFile(err):
		return BadFile
	case fault.IsInput(err):
		return BadInput
	}
	return Failed
}

// isFile reports whether the operating system refused access to a path.
func isFile(err error) bool {
	_, path := errors.AsType[*fs.PathError](err)
	_, link := errors.AsType[*os.LinkError](err)
	_, number := errors.AsType[syscall.Errno](err)
	return path || link || number || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

// calls is the number of calls of the interface that are running in the process.
var calls atomic.Int32

// Guard runs f and turns a panic, of f or of an engine's worker, into an error. At the end of the
// last running call it restores the threads of a BLAS library, which NumPy may share.
func Guard(f func() error) (err error) {
	calls.Add(1)
	defer func() {
		if calls.Add(-1) == 0 {
			backends.Release()
		}
	}()
	defer func() {
		if r := recover(); r != nil {
			err = &Error{Failed, fmt.Sprintf("internal error, please report it: %v", r)}
		}
	}()
	return f()
}

// Handles maps numbers to the objects of the calling program. Numbers are never reused, so that a
// freed one stays invalid. The zero value is empty.
type Handles struct {
	mu      sync.RWMutex
	objects map[uintptr]any
	last    uintptr
}

// Put stores an object until it is freed, and returns its number.
func (h *Handles) Put(object any) uintptr {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.objects == nil {
		h.objects = map[uintptr]any{}
	}
	h.last++
	h.objects[h.last] = object
	return h.last
}

// Get returns the object of a type with a number.
func Get[T any](h *Handles, number uintptr) (T, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return of[T](h, number)
}

// Free removes an object of a type. Running calls may still use it.
func Free[T any](h *Handles, number uintptr) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := of[T](h, number)
	if err == nil {
		delete(h.objects, number)
	}
	return err
}

// of returns an object of a type. The caller has locked h.
func of[T any](h *Handles, number uintptr) (T, error) {
	object, ok := h.objects[number].(T)
	if ok {
		return object, nil
	}
	kind := "an index"
	switch any(object).(type) {
	case *engine.Engine:
		kind = "an engine"
	case *mustlink.Model:
		kind = "a model"
	case *Pairs:
		kind = "pairs"
	case *Groups:
		kind = "groups"
	}
	return object, &Error{BadHandle,
		fmt.Sprintf("handle %d is not %s: want one that exists and was not freed", number, kind)}
}

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
