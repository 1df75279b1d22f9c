package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/mustlink/mustlink/internal/bytesize"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/job"
	"github.com/mustlink/mustlink/cmd/mustlink-beam/internal/shard"
	"github.com/mustlink/mustlink/engine/fault"
)

// app is what the commands share: the streams, the environment and the global flags.
type app struct {
	stdout, stderr io.Writer
	getenv         func(string) string

	json    bool
	quiet   bool
	verbose bool
	runner  string
	workers int
	memory  bytesize.Size
}

// The environment variables that choose the linear algebra.
const (
	backendVariable = "MUSTLINK_BACKEND"
	simdVariable    = "MUSTLINK_SIMD"
)

// config returns what all workers are told.
func (a *app) config(set *shard.Set, bad badFlags) (job.Config, error) {
	if a.workers < 0 {
		return job.Config{}, usagef("--workers is %d: want a number >= 0 (0 for all processors)", a.workers)
	}
	return job.Config{
		Workers: a.workers, MemoryLimit: int64(a.memory), Backend: a.getenv(backendVariable), SIMD: a.getenv(simdVariable),
		BadRows: bad.limit, BadOutput: bad.output, Rows: set.Rows,
	}, nil
}

// run builds a pipeline and waits for it.
func (a *app) run(ctx context.Context, build func(s beam.Scope)) (*job.Report, error) {
	return job.Run(ctx, a.runner, func(s beam.Scope) error {
		build(s)
		return nil
	})
}

// report is what a command prints of its job.
type report struct {
	Command  string      `json:"command"`
	Rows     int64       `json:"rows"`
	Files    int         `json:"files"`
	Elements int         `json:"elements"`
	Output   string      `json:"output,omitempty"`
	BadRows  string      `json:"bad_rows,omitempty"` // the pattern of their files
	Job      *job.Report `json:"job"`
	Figures  any         `json:"figures,omitempty"`
}

// print writes a report, as JSON with --json. more adds lines of text.
func (a *app) print(r *report, more func(w io.Writer)) error {
	switch {
	case a.json:
		return encode(a.stdout, r)
	case a.quiet && r.Figures == nil:
		return nil
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	if !a.quiet {
		fmt.Fprintf(w, "%s\t%d rows of %d files in %d elements, on %s in %.1f s\n", r.Command, r.Rows, r.Files, r.Elements, r.Job.Runner, r.Job.Seconds)
	}
	if more != nil {
		more(w)
	}
	if n := r.Job.Counters["rows_bad"]; n > 0 {
		fmt.Fprintf(w, "left out\t%d rows that are wrong", n)
		if r.BadRows != "" {
			fmt.Fprintf(w, ", see %s", r.BadRows)
		}
		fmt.Fprintln(w)
	}
	if r.Output != "" && !a.quiet {
		fmt.Fprintf(w, "output\t%s\n", r.Output)
	}
	return w.Flush()
}

// printFigures writes what a command measures, as JSON with --json.
func (a *app) printFigures(v any, text func(w io.Writer)) error {
	if a.json {
		return encode(a.stdout, v)
	}
	text(a.stdout)
	return nil
}

func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// wrongDim says that rows do not go with others.
func wrongDim(set *shard.Set, want int, other string) error {
	return &fault.ShapeError{What: "number of features of " + set.Files[0], Got: set.Dim, Want: fmt.Sprintf("%d, as %s has", want, other)}
}

// renamed calls a parameter of a lower layer by the flag that sets it.
func renamed(err error, param, flag string) error {
	if pe, ok := errors.AsType[*fault.ParamError](err); ok && pe.Param == param {
		named := *pe
		named.Param = flag
		return &named
	}
	return err
}
