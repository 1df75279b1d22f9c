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
