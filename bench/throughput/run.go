package throughput

import (
	"context"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/mustlink/mustlink/bench/measure"
	"github.com/mustlink/mustlink/engine"
	"github.com/mustlink/mustlink/engine/fault"
)

// The cases.
const (
	krcaCase   = "krca"
	kbetaCase  = "kbeta"
	embedCase  = "embed"
	singleCase = "single"
	csvCase    = "csv"
	streamCase = "stream"
)

// Cases returns the names of the cases, in the order in which they are measured.
func Cases() []string {
	return []string{krcaCase, kbetaCase, embedCase, singleCase, csvCase, streamCase}
}

// Options are the settings of a measurement.
type Options struct {
	Cases      []string      // of [Cases]; nil: all
	Goroutines []int         // nil: 1, 2, 4 and 8; the others are compared with the first, which must be 1
	Rounds     int           // 0: 5
	Rows       int           // number of rows of the embedded file; 0: 60,000
	StreamRows int           // number of rows of the stream; 0: 1,000,000
	CSVBytes   int           // approximate size of the parsed files; 0: 64 MB
	MinTime    time.Duration // minimum time of a round of fits; 0: 1 s
	Threads    int           // number of threads of embedding; 0: all processors
	// Program is the executable of mustlink whose embed command is measured; Timer is the
	// executable of mustlink-bench, which times it.
	Program, Timer string
	// Drop restores Go's default garbage collection until restore is called; nil if the program
	// does not change it.
	Drop func() (restore func())
	// Open returns an engine with the given number of workers, each with one thread of linear
	// algebra.
	Open func(workers int) (*engine.Engine, error)
	// Progress is called before every case.
	Progress func(done, total int, name string)
}

// Report has the results; what was not measured is nil.
type Report struct {
	Rounds  int     `json:"rounds"`
	Threads int     `json:"threads"` // number of threads of embedding
	Fits    []Fits  `json:"fits,omitempty"`
	Flows   []Flow  `json:"embed,omitempty"`
	Parses  []Parse `json:"csv,omitempty"`
}

func (o *Options) fill() error {
	if o.Cases == nil {
		o.Cases = Cases()
	}
	for _, c := range o.Cases {
		if !slices.Contains(Cases(), c) {
			return fault.Unknown("case", c, Cases())
		}
	}
	if o.Goroutines == nil {
		o.Goroutines = []int{1, 2, 4, 8}
	}
	for k, g := range o.Goroutines {
		if k == 0 && g != 1 || k > 0 && g <= o.Goroutines[k-1] || g > 1024 {
			return &fault.ParamError{Param: "goroutines", Value: o.Goroutines,
				Want: "increasing numbers from 1 on, at most 1024"}
		}
	}
	for _, n := range []struct {
		name    string
		value   *int
		without int
	}{{"rounds", &o.Rounds, 5}, {"rows", &o.Rows, 60_000}, {"stream-rows", &o.StreamRows, 1_000_000},
		{"CSV bytes", &o.CSVBytes, 64_000_000}, {"threads", &o.Threads, runtime.GOMAXPROCS(0)}} {
		if *n.value < 0 {
			return &fault.ParamError{Param: n.name, Value: *n.value, Want: "a number >= 1"}
		}
		if *n.value == 0 {
			*n.value = n.without
		}
	}
	if o.MinTime == 0 {
		o.MinTime = time.Second
	}
	embeds := func(c string) bool { return c == embedCase || c == singleCase || c == streamCase }
	if o.Program == "" && slices.ContainsFunc(o.Cases, embeds) {
		return &fault.ParamError{Param: "program", Value: o.Program,
			Want: "the executable of mustlink, next to this program or in PATH (make build builds it)"}
	}
	return nil
}

// Run measures the cases. It writes files to a new temporary folder, which it removes at the end.
// Input errors are a *fault.ParamError. Run returns soon after ctx ends, with its error.
func Run(ctx context.Context, o Options) (r *Report, err error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "mustlink-throughput-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	r = &Report{Rounds: o.Rounds, Threads: o.Threads}
	for i, name := range o.Cases {
		if o.Progress != nil {
			o.Progress(i, len(o.Cases), name)
		}
		if err := o.run(ctx, r, name, folder); err != nil {
			if ctx.Err() != nil { // a process may have been killed before it could report that
				err = ctx.Err()
			}
			return nil, err
		}
	}
	return r, nil
}

// run measures one case.
func (o *Options) run(ctx context.Context, r *Report, name, folder string) error {
	switch name {
	case krcaCase, kbetaCase:
		ways := []struct{ gogc, kept int }{{}}
		if name == krcaCase {
			ways = append(ways, struct{ gogc, kept int }{gogc: goOwn}, struct{ gogc, kept int }{goOwn, kept})
		}
		for _, way := range ways {
			f, err := o.fits(ctx, name, way.gogc, way.kept)
			if err != nil {
				return err
			}
			r.Fits = append(r.Fits, f)
		}
	case csvCase:
		parses, err := o.csv(ctx, folder)
		if err != nil {
			return err
		}
		r.Parses = parses
	default:
		flows, err := o.embed(ctx, name, folder)
		if err != nil {
			return err
		}
		r.Flows = append(r.Flows, flows...)
	}
	return nil
}

// rate converts seconds for a number of things to things per second.
func rate(things float64, s measure.Spread) measure.Spread {
	return measure.Spread{Median: things / s.Median, Min: things / s.Max, Max: things / s.Min}
}
