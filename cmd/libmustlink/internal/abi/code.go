package abi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine/fault"
)

// Version is MUSTLINK_ABI of mustlink.h.
const Version = 1

// Code is a mustlink_code.
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

// Error is an error of the interface itself, which the library below knows nothing of.
type Error struct {
	Code Code
	Text string
}

func (e *Error) Error() string { return e.Text }

// argument is shorthand for a mistake of the calling program.
func argument(format string, args ...any) *Error {
	return &Error{BadArgument, fmt.Sprintf(format, args...)}
}

// CodeOf sorts errors as the header promises.
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

// isFile reports whether the operating system refused a path.
func isFile(err error) bool {
	_, path := errors.AsType[*fs.PathError](err)
	_, link := errors.AsType[*os.LinkError](err)
	_, number := errors.AsType[syscall.Errno](err)
	return path || link || number || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

// calls is the number of those of the interface that are under way in the process.
var calls atomic.Int32

// Guard runs f; a panic, of f or of a worker of an engine, becomes an error. Behind the last call
// under way, a BLAS library has its threads back: it may be NumPy's too.
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
