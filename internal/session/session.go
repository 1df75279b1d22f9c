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
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas/backends"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/dataset"
	"github.com/mustlink/mustlink/engine/fault"
	"github.com/mustlink/mustlink/internal/usage"
)

// Session is one run of a program.
type Session struct {
	Name           string // of the program, before its warnings
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	NewBar         func(w io.Writer) Bar // draws a bar on a terminal; nil for a program without
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

	ballast   ballast // empty for none
	held      atomic.Int64
	stdinUsed string     // the flag that reads standard input, "" if none does
	inputs    []string   // paths read, which no output may replace
	course    course     // the bar of the command that runs
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
	if s.MemoryLimit == 0 && len(s.ballast) == 0 {
		s.ballast = make(ballast, s.Garbage)
	}
	backend, err := backends.Open(backends.Options{
		Name:    s.Getenv(BackendVariable),
		SIMD:    s.Getenv(SIMDVariable),
		Threads: cmp.Or(threads, workers),
	})
	if err != nil {
		return nil, EnvironmentError(err)
	}
	return engine.New(engine.Options{Backend: backend, Workers: workers, MemoryLimit: int64(s.MemoryLimit),
		Held: &s.held})
}

// Hold counts bytes that stay in memory until the command ends, and next to which its engines have
// less room within the memory limit.
func (s *Session) Hold(bytes int64) { s.held.Add(bytes) }

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
	f.Var(memoryLimit{&s.MemoryLimit}, "memory-limit",
		"refuse work that requires more memory than this, such as 8GiB (default no limit)")
}

// FlagsInOrder makes the help of commands list flags in the order of their definition.
func FlagsInOrder(commands []*cobra.Command) {
	for _, c := range commands {
		c.Flags().SortFlags = false
		FlagsInOrder(c.Commands())
	}
}

// ByteSize is a number of bytes, 0 for no limit: "8GiB", "500MB", "1073741824".
type ByteSize int64

var byteUnits = []struct {
	suffix string
	bytes  float64
}{
	// Longest first: "MiB" also ends in "B".
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40}, {"pib", 1 << 50},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}, {"pb", 1e15},
	{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1 << 40}, {"p", 1 << 50},
	{"b", 1},
}

var errByteSize = errors.New("a size such as 8GiB, 500MB or a number of bytes")

// Set implements pflag.Value.
func (b *ByteSize) Set(s string) error {
	number, unit := strings.ToLower(strings.TrimSpace(s)), 1.0
	for _, u := range byteUnits {
		if rest, ok := strings.CutSuffix(number, u.suffix); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	// The condition is written so that NaN fails.
	if err != nil || !(v >= 0 && v*unit < math.MaxInt64) {
		return errByteSize
	}
	*b = ByteSize(v * unit)
	return nil
}

// Type implements pflag.Value.
func (b *ByteSize) Type() string { return "size" }

func (b *ByteSize) String() string {
	if *b == 0 {
		return ""
	}
	return fmt.Sprint(fault.FormatBytes(int64(*b)))
}

// memoryLimit is the value of --memory-limit, which the collector keeps to as soon as it is known.
type memoryLimit struct{ *ByteSize }

// Set implements pflag.Value.
func (m memoryLimit) Set(text string) error {
	err := m.ByteSize.Set(text)
	if err == nil && *m.ByteSize > 0 {
		debug.SetMemoryLimit(collectionLimit(int64(*m.ByteSize)))
	}
	return err
}

// collectionLimit returns the memory of the process beyond which Go collects garbage as often as it
// can, so that the heap stays within a limit. What the process has besides its heap is added, and a
// limit below the heap of a program that has just begun counts as that: collections could not make
// it smaller, and would take half of the processors.
func collectionLimit(limit int64) int64 {
	const least = 4 << 20
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	besides := int64(m.Sys - m.HeapSys)
	if limit > math.MaxInt64-besides {
		return math.MaxInt64
	}
	return max(limit, least) + besides
}

// A ballast lets a program's garbage grow to a fixed size before it is collected.
//
// Go collects when there is as much garbage as memory in use (GOGC=100). A program that uses little
// memory, and allocates thousands of small objects, then collects hundreds of times a second, each
// time on all its processors. A block that is never touched counts as memory in use, but occupies
// none if it comes fresh from the system, at the start of a program. A ballast is such a block, for
// one goroutine; it allows as much additional garbage, until it is garbage.
type ballast []byte

// drop restores the default garbage collection of Go until restore is called.
func (b *ballast) drop() (restore func()) {
	size := len(*b)
	*b = nil
	runtime.GC()
	return func() { *b = make(ballast, size) }
}

// DropBallast restores the garbage collection of Go's default until restore is called.
func (s *Session) DropBallast() (restore func()) { return s.ballast.drop() }
