package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/cmd/internal/ballast"
	"github.com/mustlink/mustlink/cmd/internal/bytesize"
	"github.com/mustlink/mustlink/engine"
)

// app is what the commands share: the streams, the environment and the global flags.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	garbage        int // bytes of it that are let be where memory has no limit, beside as many as are in use

	quiet       bool
	json        bool
	workers     int
	memoryLimit bytesize.Size
	blasThreads int

	ballast   *ballast.Ballast // nil for none
	stdinUsed string           // what reads standard input, "" for nothing so far
	inputs    []string         // paths read, which no output may replace
	warnings  []string         // printed so far, for --json
}

// The environment variables that choose the linear algebra.
const (
	backendVariable = "MUSTLINK_BACKEND"
	simdVariable    = "MUSTLINK_SIMD"
)

// engine opens the engine that the global flags and the environment describe.
func (a *app) engine() (*engine.Engine, error) {
	switch {
	case a.workers < 0:
		return nil, usagef("--workers is %d: want a number >= 0 (0 for all processors)", a.workers)
	case a.blasThreads < 0:
		return nil, usagef("--blas-threads is %d: want a number >= 0 (0 for as many as --workers)", a.blasThreads)
	}
	if a.memoryLimit > 0 {
		debug.SetMemoryLimit(int64(a.memoryLimit))
	} else if a.ballast == nil && a.garbage > 0 {
		a.ballast = ballast.New(a.garbage)
	}
	threads := a.blasThreads
	if threads == 0 {
		threads = a.workers
	}
	backend, err := backends.Open(backends.Options{
		Name:    a.getenv(backendVariable),
		SIMD:    a.getenv(simdVariable),
		Threads: threads,
	})
	if err != nil {
		return nil, environmentError(err)
	}
	return engine.New(engine.Options{Backend: backend, Workers: a.workers, MemoryLimit: int64(a.memoryLimit)})
}

// engineOf opens an engine as engine does, with other numbers of workers and threads.
func (a *app) engineOf(workers, threads int) (*engine.Engine, error) {
	with := *a
	with.workers, with.blasThreads = workers, threads
	return with.engine()
}

// environmentError names the variable that holds a value which does not exist here.
func environmentError(err error) error {
	if e, ok := errors.AsType[*backends.OptionError](err); ok && e.Option == "backend" {
		named := *e
		named.Option = backendVariable
		return &named
	}
	if _, ok := errors.AsType[*asm.LevelError](err); ok {
		return fmt.Errorf("%s: %w", simdVariable, err)
	}
	return err
}

// simd returns the SIMD level that the environment asks for, the best one without.
func (a *app) simd() (asm.Level, error) {
	name := a.getenv(simdVariable)
	if name == "" {
		return asm.Best(), nil
	}
	level, err := asm.ParseLevel(name)
	return level, environmentError(err)
}

// isTerminal reports whether w is a terminal. A character device is taken as one, except
// the null device, which is where people send what they do not want to see.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// await runs f and returns its result, or ctx's error as soon as ctx ends: reading, from a
// person, a slow pipe or a huge file, must not keep an interrupt waiting. f is then left
// behind, which only a program about to exit may do; f must not write files.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
