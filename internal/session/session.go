// Package session provides what the commands of one program share: streams and environment, global
// flags, the engine that these describe, progress on a terminal, output, and the checks of a
// command line.
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"sync"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/algorithms"
	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/internal/usage"
)

// Session is one run of a program.
type Session struct {
	Name           string // of the program, before its warnings
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	NewBar         func(w io.Writer) Bar // begins a bar on a terminal; nil for a program without
	// Garbage is the number of bytes of garbage, in addition to as many as are in use, that are
	// left uncollected if memory has no limit.
	Garbage int

	// The global flags, which [Session.Root] adds to a command line.
	Quiet       bool
	JSON        bool
	Workers     int
	MemoryLimit ByteSize
	BLASThreads int

	Files dataset.Mappings // large files whose pages hold points, until the program ends

	ballast   *ballast   // nil for none
	stdinUsed string     // the flag that reads standard input, "" if none does
	inputs    []string   // paths read, which no output may replace
	warning   sync.Mutex // of warnings
	warnings  []string   // printed so far, for --json
}

// The environment variables that choose the linear algebra.
const (
	BackendVariable = "MUSTLINK_BACKEND"
	SIMDVariable    = "MUSTLINK_SIMD"
)

// Engine opens the engine that the global flags and the environment describe.
func (s *Session) Engine() (*engine.Engine, error) { return s.EngineOf(s.Workers, s.BLASThreads) }

// EngineOf opens an engine as Engine does, but with the given numbers of workers and threads.
func (s *Session) EngineOf(workers, threads int) (*engine.Engine, error) {
	switch {
	case workers < 0:
		return nil, usage.Errorf("--workers is %d: want a number >= 0 (0 for all processors)", workers)
	case threads < 0:
		return nil, usage.Errorf("--blas-threads is %d: want a number >= 0 (0 for as many as --workers)",
			threads)
	}
	if s.MemoryLimit > 0 {
		debug.SetMemoryLimit(collectionLimit(int64(s.MemoryLimit)))
	} else if s.ballast == nil && s.Garbage > 0 {
		s.ballast = newBallast(s.Garbage)
	}
	backend, err := backends.Open(backends.Options{
		Name:    s.Getenv(BackendVariable),
		SIMD:    s.Getenv(SIMDVariable),
		Threads: cmp.Or(threads, workers),
	})
	if err != nil {
		return nil, EnvironmentError(err)
	}
	return engine.New(engine.Options{Backend: backend, Workers: workers, MemoryLimit: int64(s.MemoryLimit)})
}

// EnvironmentError renames the parameter of an error to the environment variable with the wrong
// value.
func EnvironmentError(err error) error {
	if e, ok := errors.AsType[*backends.OptionError](err); ok && e.Option == "backend" {
		named := *e
		named.Option = BackendVariable
		return &named
	}
	if _, ok := errors.AsType[*asm.LevelError](err); ok {
		return fmt.Errorf("%s: %w", SIMDVariable, err)
	}
	return err
}

// SIMD returns the SIMD level of the environment variable, or the best one.
func (s *Session) SIMD() (asm.Level, error) {
	name := s.Getenv(SIMDVariable)
	if name == "" {
		return asm.Best(), nil
	}
	level, err := asm.ParseLevel(name)
	return level, EnvironmentError(err)
}

// Await runs f and returns its result, or ctx's error as soon as ctx ends, because an interrupt
// must not wait for a person, a slow pipe or a huge file. f then keeps running, which is safe only
// in a program that is about to exit; f must not write files.
func Await[T any](ctx context.Context, f func() (T, error)) (T, error) {
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

// Root sets up the root command: streams, global flags, and the messages about wrong command lines.
func (s *Session) Root(root *cobra.Command) {
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetIn(s.Stdin)
	root.SetOut(s.Stdout)
	root.SetErr(s.Stderr)
	root.SetFlagErrorFunc(usage.FlagError)
	s.globalFlags(root)
}

func (s *Session) globalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.SortFlags = false
	f.BoolVar(&s.JSON, "json", false, "print results as JSON")
	f.BoolVarP(&s.Quiet, "quiet", "q", false,
		"no progress bar and no summaries; warnings and errors still appear")
	f.IntVar(&s.Workers, "workers", 0,
		"number of goroutines that share the work; 0 for all processors. Results do not depend on it (in "+
			"the netlib build: for a given --blas-threads)")
	f.IntVar(&s.BLASThreads, "blas-threads", 0,
		"number of threads of one large linear algebra call; 0 for as many as --workers")
	f.Var(&s.MemoryLimit, "memory-limit",
		"refuse work that requires more memory than this, such as 8GiB (default no limit)")
}

// FlagsInOrder makes the help of commands list flags in the order of their definition.
func FlagsInOrder(commands []*cobra.Command) {
	for _, c := range commands {
		c.Flags().SortFlags = false
		FlagsInOrder(c.Commands())
	}
}

// Bar shows the progress of one piece of work on a terminal; package progress draws it.
type Bar interface {
	Show(p algorithms.Progress)
	// Clear removes the bar from the screen; it is the last call.
	Clear()
}

// Progress is a bar that appears with the first report, only on a terminal, and not with --quiet or
// --json.
type Progress struct {
	mu      sync.Mutex
	wanted  bool
	bar     Bar
	newBar  func() Bar
	cleared bool
}

// Progress returns the bar of one piece of work.
func (s *Session) Progress() *Progress {
	return &Progress{
		wanted: s.NewBar != nil && !s.Quiet && !s.JSON && usage.IsTerminal(s.Stderr),
		newBar: func() Bar { return s.NewBar(s.Stderr) },
	}
}

// Report is an algorithms.ProgressFunc.
func (p *Progress) Report(r algorithms.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.wanted || p.cleared {
		return
	}
	if p.bar == nil {
		p.bar = p.newBar()
	}
	p.bar.Show(r)
}

// Step reports which of several parts of the work is running.
func (p *Progress) Step(done, total int, name string) {
	p.Report(algorithms.Progress{Stage: name, Done: done, Total: total, Objective: math.NaN(),
		Residual: math.NaN()})
}

// Done removes the bar. It may be called twice: once before printing and once deferred.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil && !p.cleared {
		p.bar.Clear()
	}
	p.cleared = true
}
