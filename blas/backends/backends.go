// Package backends (internal: may change) opens a blas.Backend by name. It is the only package
// that lists the backends of a build.
package backends

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/mustlink/mustlink/asm"
	"github.com/mustlink/mustlink/blas"
	"github.com/mustlink/mustlink/blas/gonum"
	"github.com/mustlink/mustlink/blas/internal/native"
)

// Options select a backend. The zero value is the build's default on all cores.
type Options struct {
	Name    string // gonum, native or netlib; "" is [Default]
	SIMD    string // generic, avx2, avx512 or neon; "" is the best one here
	Threads int    // goroutines or BLAS threads for one large call; 0 is GOMAXPROCS
}

// entry is one backend of this build.
type entry struct {
	name string
	open func(t *asm.Table, threads int) blas.Backend
}

// entries lists the backends of this build: those of every build, then extra.
func entries() []entry {
	return append([]entry{
		{"gonum", func(t *asm.Table, _ int) blas.Backend { return gonum.New(t) }},
		{"native", func(t *asm.Table, threads int) blas.Backend { return native.New(t, threads) }},
	}, extra()...)
}

// Names returns the names of the backends in this build.
func Names() []string {
	var names []string
	for _, e := range entries() {
		names = append(names, e.name)
	}
	return names
}

// Default returns the name of the build's default: netlib if the build has it, otherwise native.
func Default() string {
	names := Names()
	return names[len(names)-1]
}

// Open returns the backend that o describes. An unknown name, a backend that this build lacks, an
// unknown or unsupported SIMD level and a negative thread count are input errors (*OptionError,
// *asm.LevelError) that list the choices.
func Open(o Options) (blas.Backend, error) {
	if o.Threads < 0 {
		return nil, &OptionError{"threads", fmt.Sprint(o.Threads), "a number >= 0 (0: one for each core)"}
	}
	threads := o.Threads
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	table, err := openTable(o.SIMD)
	if err != nil {
		return nil, err
	}
	name := o.Name
	if name == "" {
		name = Default()
	}
	all := entries()
	i := slices.IndexFunc(all, func(e entry) bool { return e.name == name })
	if i < 0 {
		return nil, unknown(name)
	}
	return all[i].open(table, threads), nil
}

func openTable(simd string) (*asm.Table, error) {
	level := asm.Best()
	if simd != "" {
		var err error
		if level, err = asm.ParseLevel(simd); err != nil {
			return nil, err
		}
	}
	return asm.Select(level)
}

// OptionError reports an option without a match in this build. It counts as bad input (it
// implements fault.Input).
type OptionError struct {
	Option, Value, Want string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("%s is %q: want %s", e.Option, e.Value, e.Want)
}

// InputFault marks the error as caused by the caller's input.
func (e *OptionError) InputFault() {}

func unknown(name string) *OptionError {
	want := "one of " + strings.Join(Names(), ", ")
	if name == "netlib" {
		want += " in this build (netlib needs cgo, OpenBLAS and LAPACKE: build with -tags netlib)"
	}
	return &OptionError{"backend", name, want}
}
